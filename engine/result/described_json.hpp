// SPDX-License-Identifier: Apache-2.0
// From the description of a struct (model/fields.hpp) both its JSON and the JSON Schema of that JSON.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/named.hpp"
#include "model/fields.hpp"

namespace leadline::result {

/// What objects of the struct are, as sentences for the schema: what about_of(Type<Struct>) returns, a function beside
/// its fields, where there is more to say than the meaning of a field that holds one.
template <typename Struct>
inline constexpr const char* about = [] {
  if constexpr (requires { about_of(Type<Struct>()); }) {
    return about_of(Type<Struct>());
  } else {
    return "";
  }
}();

// Values that say more than a plain type does. A double is not negative, or null where it is not finite.

struct Bounds {
  bool is_known = false;  ///< never null
  bool is_positive = false;
  bool is_at_most_one = false;
};

template <Bounds bounds>
struct BoundedNumber {
  double value = 0;
};
using KnownNumber = BoundedNumber<Bounds{.is_known = true}>;
using Ratio = BoundedNumber<Bounds{.is_positive = true}>;
using Probability = BoundedNumber<Bounds{.is_at_most_one = true}>;
using Share = BoundedNumber<Bounds{.is_known = true, .is_positive = true, .is_at_most_one = true}>;

/// Of a key that is left out where there is no value, or that older documents do not have.
template <typename Value>
struct OptionalKey {
  std::optional<Value> value;
};

template <std::size_t size>
struct FixedText {
  constexpr FixedText(const char (&from)[size]) { std::copy_n(from, size, text); }

  char text[size] = {};
};

/// Always this text.
template <FixedText constant>
struct Constant {};

/// Values by the names of the enum that is their index. The meaning of a name is that of the value.
template <typename Enum, typename Value>
struct ByName {
  std::span<const Value> values;
};

// What fields are made with, where a member is not the value as it stands.

/// As a value of another type: as<Ratio>(&Fault::ratio).
template <typename Value, typename Get>
constexpr auto as(Get get) {
  return [get](const auto& from) { return Value{std::invoke(get, from)}; };
}

/// A value of a part: through(&SliceSummary::slice, &Slice::repeat).
template <typename Get, typename Inner>
constexpr auto through(Get get, Inner inner) {
  return [get, inner](const auto& from) -> decltype(auto) { return std::invoke(inner, std::invoke(get, from)); };
}

/// All fields of a part, as fields of the whole: their keys stand in the same object.
template <Described Part, typename Get>
constexpr auto fields_through(Get get) {
  const auto fields_of_whole = [get](const auto&... one) {
    return std::make_tuple(field(one.name, through(get, one.get), one.unit, one.meaning, one.since)...);
  };
  return std::apply(fields_of_whole, fields<Part>);
}

/// Null for a negative index or rank, and for an empty text.
template <typename Struct, typename Value>
constexpr auto or_null(Value Struct::*member) {
  return [member](const Struct& from) {
    const Value& value = from.*member;
    bool is_none = false;
    if constexpr (std::integral<Value>) {
      is_none = value < 0;
    } else {
      is_none = value.empty();
    }
    return is_none ? std::nullopt : std::optional<Value>(value);
  };
}

/// Null for a ratio that was not measured, which is 0.
template <typename Struct>
constexpr auto positive_or_null(double Struct::*member) {
  return [member](const Struct& from) {
    return Ratio{from.*member > 0 ? from.*member : std::numeric_limits<double>::quiet_NaN()};
  };
}

// The parts of schemas that need no template.

enum class Key : bool { required, optional };

Json type_schema(const char* type);
Json number_schema(const Bounds& bounds);
Json array_schema(Json items);
/// Without keys; `about` may be empty.
Json object_schema(const char* about = "");
Json nullable_schema(Json schema);  ///< that of a double is already
/// The key is described by its meaning with the unit, and by what the schema of its value says already.
void add_key(Json& object, const char* name, const char* unit, const char* meaning, const Json& schema, Key key);

/// How values of a type are written, `json()`, and the schema of that, `schema()`.
template <typename Value>
struct JsonType;

template <typename Value>
Json json_of(const Value& value) {
  return JsonType<Value>::json(value);
}

template <>
struct JsonType<bool> {
  static Json json(bool value) { return value; }
  static Json schema() { return type_schema("boolean"); }
};

template <std::integral Number>
struct JsonType<Number> {
  static Json json(Number value) { return value; }
  static Json schema() {
    Json schema = type_schema("integer");
    schema["minimum"] = 0;
    return schema;
  }
};

template <>
struct JsonType<double> {
  static Json json(double value) { return number(value); }
  static Json schema() { return number_schema({}); }
};

template <Bounds bounds>
struct JsonType<BoundedNumber<bounds>> {
  static Json json(const BoundedNumber<bounds>& number) { return leadline::number(number.value); }
  static Json schema() { return number_schema(bounds); }
};

template <>
struct JsonType<std::string> {
  static Json json(const std::string& text) { return text; }
  static Json schema() { return type_schema("string"); }
};

template <FixedText constant>
struct JsonType<Constant<constant>> {
  static Json json(Constant<constant> /*any*/) { return constant.text; }
  static Json schema() { return {{"const", constant.text}}; }
};

template <typename Enum>
requires std::is_enum_v<Enum>
struct JsonType<Enum> {
  static Json json(Enum value) { return name_of(value); }
  static Json schema() {
    Json names = Json::array();
    for (const Named<Enum>& one : names_of(Enum{})) names.push_back(one.name);
    return {{"enum", names}};
  }
};

template <typename Value>
struct JsonType<std::optional<Value>> {
  static Json json(const std::optional<Value>& value) { return value ? json_of(*value) : Json(nullptr); }
  static Json schema() { return nullable_schema(JsonType<Value>::schema()); }
};

template <typename Value>
struct JsonType<std::span<const Value>> {
  static Json json(std::span<const Value> values) {
    Json list = Json::array();
    for (const Value& value : values) list.push_back(json_of(value));
    return list;
  }
  static Json schema() { return array_schema(JsonType<Value>::schema()); }
};

template <typename Value>
struct JsonType<std::vector<Value>> : JsonType<std::span<const Value>> {};

template <typename Value, std::size_t size>
struct JsonType<std::array<Value, size>> : JsonType<std::span<const Value>> {
  static Json schema() {
    Json schema = JsonType<std::span<const Value>>::schema();
    schema["minItems"] = schema["maxItems"] = size;
    return schema;
  }
};

template <typename Enum, typename Value>
struct JsonType<ByName<Enum, Value>> {
  static Json json(const ByName<Enum, Value>& from) {
    Json object = Json::object();
    for (const Named<Enum>& one : names_of(Enum{})) {
      object[one.name] = json_of(from.values[static_cast<std::size_t>(one.value)]);
    }
    return object;
  }
  static Json schema() {
    Json object = object_schema();
    for (const Named<Enum>& one : names_of(Enum{})) {
      add_key(object, one.name, "", one.meaning, JsonType<Value>::schema(), Key::required);
    }
    return object;
  }
};

template <Described Struct>
struct JsonType<Struct> {
  static Json json(const Struct& from) {
    Json object = Json::object();
    add_to(object, from);
    return object;
  }
  static void add_to(Json& object, const Struct& from) {
    for_each_field<Struct>([&](const auto& one) { put(object, one.name, std::invoke(one.get, from)); });
  }
  static Json schema() {
    Json object = object_schema(about<Struct>);
    for_each_field<Struct>([&]<typename Get>(const Field<Get>& one) {
      declare(object, one, std::type_identity<FieldValue<Struct, Get>>());
    });
    return object;
  }

 private:
  template <typename Value>
  static void put(Json& object, const char* name, const Value& value) {
    object[name] = json_of(value);
  }
  template <typename Value>
  static void put(Json& object, const char* name, const OptionalKey<Value>& key) {
    if (key.value) object[name] = json_of(*key.value);
  }

  template <typename Get, typename Value>
  static void declare(Json& object, const Field<Get>& one, std::type_identity<Value> /*of*/) {
    const Key key = one.since == Since::first_version ? Key::required : Key::optional;
    add_key(object, one.name, one.unit, one.meaning, JsonType<Value>::schema(), key);
  }
  template <typename Get, typename Value>
  static void declare(Json& object, const Field<Get>& one, std::type_identity<OptionalKey<Value>> /*of*/) {
    add_key(object, one.name, one.unit, one.meaning, JsonType<Value>::schema(), Key::optional);
  }
};

/// The keys of a struct, in an object that has others.
template <Described Struct>
void add_fields(Json& object, const Struct& from) {
  JsonType<Struct>::add_to(object, from);
}

template <typename Value>
inline constexpr bool is_optional = false;
template <typename Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

/// The other way round, for fields that are members. Throws JsonError for what no such document has; keys that nobody
/// knows are left alone.
template <typename Value>
void read_json(const Json& json, Value& value) {
  if constexpr (Described<Value>) {
    for_each_field<Value>([&](const auto& one) {
      const bool is_absent = one.since == Since::later_version && json.find(one.name) == nullptr;
      if (!is_absent) read_json(json.at(one.name), value.*one.get);
    });
  } else if constexpr (is_optional<Value>) {
    value.reset();
    if (!json.is_null()) read_json(json, value.emplace());
  } else if constexpr (std::same_as<Value, double>) {
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
  } else {
    json.get_to(value);
  }
}
Json document_schema(const std::string& name, const char* title, const Json& schema);

/// The schema of a document; its name is in its $id.
template <Described Document>
Json document_schema(const std::string& name, const char* title) {
  return document_schema(name, title, JsonType<Document>::schema());
}

}  // namespace leadline::result
