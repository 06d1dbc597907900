// SPDX-License-Identifier: Apache-2.0
// Whether a JSON document has the keys of its schema and no others.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/json.hpp"

namespace leadline::test {

/// The part of JSON Schema that keeps keys and documents together: objects, items, plain types.
class Schema {
  using json = nlohmann::json;

 public:
  explicit Schema(const Json& schema) : root_(json::parse(schema.in_one_line())) {}

  std::vector<std::string> complaints(const json& document) const {
    std::vector<std::string> all;
    check(root_, document, "", all);
    return all;
  }

 private:
  static bool fits(const std::string& type, const json& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == "null" && value.is_null();
  }

  void check(const json& schema, const json& value, const std::string& place, std::vector<std::string>& all) const {
    if (schema.contains("type")) {
      const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
      const bool is_right =
          std::any_of(types.begin(), types.end(), [&](const json& type) { return fits(type, value); });
      if (!is_right) all.push_back(place + " has the wrong type");
    }
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
      all.push_back(place + " has an unknown value");
    }
    if (schema.contains("const") && schema["const"] != value) all.push_back(place + " is not the constant");
    if (schema.contains("properties") && value.is_object()) check_keys(schema, value, place, all);
    if (schema.contains("items") && value.is_array()) {
      for (const json& item : value) check(schema["items"], item, place + "[]", all);
    }
  }

  void check_keys(const json& schema, const json& value, const std::string& place,
                  std::vector<std::string>& all) const {
    for (const json& key : schema["required"]) {
      if (!value.contains(key)) all.push_back(place + "/" + key.get<std::string>() + " is missing");
    }
    for (const auto& [key, inner] : value.items()) {
      if (!schema["properties"].contains(key)) {
        all.push_back(place + "/" + key + " is not in the schema");
      } else {
        check(schema["properties"][key], inner, place + "/" + key, all);
      }
    }
  }

  json root_;
};

}  // namespace leadline::test
