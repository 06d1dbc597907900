// SPDX-License-Identifier: Apache-2.0
// A JSON value. nlohmann/json parses and writes it in one source: its header takes long to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leadline {

/// A text is not JSON, a member is missing, or a value has another type than asked for.
struct JsonError : std::runtime_error {
  explicit JsonError(const std::string& text, std::size_t at_byte = 0) : std::runtime_error(text), byte(at_byte) {}

  std::size_t byte;  ///< where the text is not JSON, from 1; 0 where it is
};

/// Null, true or false, a number, a string, an array or an object. Members of an object keep their order.
class Json {
 public:
  struct Member;

  Json() = default;
  Json(std::nullptr_t) {}
  template <std::same_as<bool> Bool>
  Json(Bool value) : value_(value) {}
  template <std::signed_integral Integer>
  Json(Integer value) : value_(std::int64_t{value}) {}
  template <std::unsigned_integral Integer>
  requires(!std::same_as<Integer, bool>) Json(Integer value) : value_(std::uint64_t{value}) {}
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  template <typename Value>
  Json(const std::vector<Value>& values) : value_(std::vector<Json>(values.begin(), values.end())) {}
  /// An object: {{"name", value}, {"other", value}}.
  Json(std::initializer_list<Member> members);

  static Json array(std::initializer_list<Json> elements = {});
  static Json object();

  /// Throws JsonError with the position of the first error, also where arrays and objects are nested deeper than 100.
  static Json parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<std::vector<Json>>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  /// A whole number that is not negative; a parsed one always, one that was built from an unsigned type.
  bool is_number_unsigned() const { return std::holds_alternative<std::uint64_t>(value_); }
  bool is_number_integer() const { return is_number_unsigned() || std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_number_integer() || std::holds_alternative<double>(value_); }

  /// bool, std::string, or a number, which is converted. Throws JsonError where the value is of another kind.
  template <typename Value>
  Value get() const {
    if constexpr (std::same_as<Value, bool>) {
      return as<bool>("true or false");
    } else if constexpr (std::same_as<Value, std::string>) {
      return as<std::string>("a string");
    } else if (const auto* whole = std::get_if<std::uint64_t>(&value_)) {
      return static_cast<Value>(*whole);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
      return static_cast<Value>(*integer);
    } else {
      return static_cast<Value>(as<double>("a number"));
    }
  }
  template <typename Value>
  void get_to(Value& value) const {
    value = get<Value>();
  }
  template <typename Value>
  void get_to(std::vector<Value>& values) const {
    values.clear();
    for (const Json& element : elements()) values.push_back(element.get<Value>());
  }

  /// Throws JsonError where this is no array.
  const std::vector<Json>& elements() const { return as<std::vector<Json>>("an array"); }
  /// The names of an object's members. Throws JsonError where this is no object.
  const std::vector<std::string>& names() const { return as<Object>("an object").names; }
  /// The number of elements or members; 0 for everything else.
  std::size_t size() const;

  /// Null where there is no such member, or this is no object.
  const Json* find(std::string_view name) const;
  /// Throw JsonError where there is no such member or element.
  const Json& at(std::string_view name) const;
  const Json& at(std::size_t index) const;

  /// The member of that name, made where it is missing. Null becomes an object first.
  Json& operator[](std::string_view name);
  /// Adds an element. Null becomes an array first.
  void push_back(Json element);
  /// Removes so many elements from the end of an array, which has as many.
  void remove_last(std::size_t num);

  /// With line breaks and two spaces a level. Text that is not UTF-8 is replaced by U+FFFD where it is wrong.
  std::string indented() const;
  /// The same in one line.
  std::string in_one_line() const;

 private:
  struct Object {
    std::vector<std::string> names;
    std::vector<Json> values;  ///< in the order of the names
  };

  template <typename Value>
  const Value& as(const char* kind) const {
    const Value* const value = std::get_if<Value>(&value_);
    if (value == nullptr) throw JsonError(std::string("it is not ") + kind);
    return *value;
  }
  template <typename Value>
  Value& become(const char* kind);

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<Json>, Object>
      value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

/// Null for what is not finite: not measured.
Json number(double value);

/// What messages call the file: "the fabric file X is wrong (...). docs/formats/model-fabric.md describes the format".
struct JsonFile {
  std::string kind;  ///< "fabric file"
  std::string name;
  std::string description;  ///< the page of the documentation
};

/// A location in the file, for messages: "faults[2].slow_host". The file outlives it.
struct JsonLocation {
  const JsonFile& file;
  std::string key{};

  JsonLocation of(const std::string& member) const { return {file, key.empty() ? member : key + "." + member}; }
  JsonLocation at(std::size_t index) const { return {file, key + "[" + std::to_string(index) + "]"}; }
};

/// Throws Error(bad_command_line).
[[noreturn]] void refuse(const JsonLocation& location, const std::string& reason);

/// The document; refuses what is no JSON.
Json parse_json(const std::string& text, const JsonFile& file);

/// All of the file. Throws Error(bad_command_line) where it cannot be read.
std::string read_json_text(const JsonFile& file);

/// An object whose members are taken one by one; what is left at the end was not known.
class JsonMembers {
 public:
  JsonMembers(const Json& json, JsonLocation location);

  const JsonLocation& location() const { return location_; }

  const Json* find(const char* name);
  const Json& need(const char* name);

  /// Where it stands, `parse(value, location)` goes into `member`.
  template <typename Parse, typename Member>
  bool optional(const char* name, const Parse& parse, Member& member) {
    const Json* value = find(name);
    if (value != nullptr) member = parse(*value, location_.of(name));
    return value != nullptr;
  }

  void refuse_others() const;

 private:
  const Json& json_;
  JsonLocation location_;
  std::set<std::string> taken_;
};

// Values; each refuses what it is not.

double positive(const Json& json, const JsonLocation& location);
double number_between(const Json& json, const JsonLocation& location, double least, double most);
std::uint64_t whole(const Json& json, const JsonLocation& location,
                    std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
int json_index(const Json& json, const JsonLocation& location);
std::string text_of(const Json& json, const JsonLocation& location);
bool truth_of(const Json& json, const JsonLocation& location);

}  // namespace leadline
