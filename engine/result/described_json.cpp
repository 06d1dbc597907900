// SPDX-License-Identifier: Apache-2.0
// The parts of JSON Schemas, and the words of their descriptions.
#include "result/described_json.hpp"

#include <cctype>
#include <string_view>

namespace leadline::result {
namespace {

/// Of a unit that is no word; other ones are words, or say nothing.
std::string in_words(std::string_view unit) {
  for (const auto& [name, words] :
       {std::pair{"ns", "nanoseconds"}, {"s", "seconds"}, {"bytes/s", "bytes per second"}}) {
    if (unit == name) return words;
  }
  return unit == "1" ? "" : std::string(unit);
}

std::string sentence(const char* meaning, const char* unit) {
  std::string text = meaning;
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  if (const std::string words = in_words(unit); !words.empty()) text += " (" + words + ")";
  return text + ".";
}

/// The same with a description, in front, where a reader finds it.
Json with_description(const Json& schema, const std::string& description) {
  Json described = Json::object();
  if (!description.empty()) described["description"] = description;
  for (const std::string& name : schema.names()) {
    if (name != "description") described[name] = schema.at(name);
  }
  return described;
}

}  // namespace

Json type_schema(const char* type) { return {{"type", type}}; }

Json number_schema(const Bounds& bounds) {
  Json schema = type_schema("number");
  if (!bounds.is_known) schema = nullable_schema(schema);
  schema[bounds.is_positive ? "exclusiveMinimum" : "minimum"] = 0;
  if (bounds.is_at_most_one) schema["maximum"] = 1;
  return schema;
}

Json array_schema(Json items) {
  Json schema = type_schema("array");
  schema["items"] = std::move(items);
  return schema;
}

Json object_schema(const char* about) {
  const Json schema = {{"type", "object"}, {"required", Json::array()}, {"properties", Json::object()}};
  return with_description(schema, about);
}

Json nullable_schema(Json schema) {
  if (schema.find("enum") != nullptr) {
    schema["enum"].push_back(nullptr);
  } else if (const Json type = schema.at("type"); type.is_string()) {
    schema["type"] = Json::array({type, "null"});
  }
  return schema;
}

void add_key(Json& object, const char* name, const char* unit, const char* meaning, const Json& schema, Key key) {
  std::string description = sentence(meaning, unit);
  if (const Json* const more = schema.find("description")) description += " " + more->get<std::string>();
  object["properties"][name] = with_description(schema, description);
  if (key == Key::required) object["required"].push_back(name);
}

Json document_schema(const std::string& name, const char* title, const Json& schema) {
  Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"$id", "urn:leadline:" + name + ":1"},
                   {"title", title}};
  for (const std::string& key : schema.names()) document[key] = schema.at(key);
  return document;
}

}  // namespace leadline::result
