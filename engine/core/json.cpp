// SPDX-License-Identifier: Apache-2.0
// Writes JSON values as text, and builds them from what nlohmann/json parses.
#include "core/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace leadline {

namespace {

constexpr int in_one_line_level = -1;
constexpr std::size_t max_depth = 100;

/// The number of bytes of the UTF-8 sequence at the beginning of the text; 0 where it is none (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u;
  };
  const auto is_continued = [&](std::size_t index) { return (byte(index) & 0xc0u) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_continued(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f);
    return !is_wrong && is_continued(1) && is_continued(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool is_wrong = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return !is_wrong && is_continued(1) && is_continued(2) && is_continued(3) ? 4 : 0;
  }
  return 0;
}

void write_string(std::string& text, std::string_view value) {
  constexpr std::string_view escaped = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  text += '"';
  while (!value.empty()) {
    std::size_t length = utf8_length(value);
    if (const std::size_t at = escaped.find(value[0]); at != std::string_view::npos) {
      (text += '\\') += letters[at];
    } else if (static_cast<unsigned char>(value[0]) < 0x20) {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(value[0]));
    } else if (length == 0) {
      text += "\xef\xbf\xbd";  // U+FFFD
      length = 1;
    } else {
      text += value.substr(0, length);
    }
    value.remove_prefix(length);
  }
  text += '"';
}

/// The shortest text that gives the same number again; always with a point or an exponent. JSON has no infinity.
void write_number(std::string& text, double value) {
  if (!std::isfinite(value)) {
    text += "null";
    return;
  }
  const std::string number = fmt::format("{}", value);
  text += number;
  if (number.find_first_of(".e") == std::string::npos) text += ".0";
}

void begin_line(std::string& text, int level) {
  if (level == in_one_line_level) return;
  text += '\n';
  text.append(2 * static_cast<std::size_t>(level), ' ');
}

/// Opening bracket, what `write_each` writes for each item, closing bracket.
void write_items(std::string& text, int level, const char* brackets, const auto& items, const auto& write_each) {
  text += brackets[0];
  const int inner_level = level == in_one_line_level ? level : level + 1;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += ',';
    is_first = false;
    begin_line(text, inner_level);
    write_each(item, inner_level);
  }
  if (!is_first) begin_line(text, level);
  text += brackets[1];
}

/// Takes the events of the parser and builds the value.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(string_t& name) override {
    name_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) override {
    throw JsonError(error.what(), byte);
  }

 private:
  bool add(Json value) {
    insert(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == max_depth) {
      throw JsonError(fmt::format("arrays and objects are nested deeper than {}", max_depth));
    }
    open_.push_back(&insert(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  /// Into the innermost open array or object. The outer ones do not grow meanwhile, so the pointers to them stay valid.
  Json& insert(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return const_cast<Json&>(open_.back()->elements().back());
    }
    return (*open_.back())[name_] = std::move(value);
  }

  Json root_;
  std::vector<Json*> open_;
  std::string name_;
};

}  // namespace

Json::Json(std::initializer_list<Member> members) {
  Object object;
  for (const Member& member : members) {
    object.names.push_back(member.name);
    object.values.push_back(member.value);
  }
  value_ = std::move(object);
}

Json Json::array(std::initializer_list<Json> elements) {
  Json json;
  json.value_ = std::vector<Json>(elements);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json Json::parse(std::string_view text) {
  Builder builder;
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

std::size_t Json::size() const {
  if (is_array()) return elements().size();
  return is_object() ? names().size() : 0;
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  const auto found = std::ranges::find(names(), name);
  if (found == names().end()) return nullptr;
  return &as<Object>("an object").values[static_cast<std::size_t>(found - names().begin())];
}

const Json& Json::at(std::string_view name) const {
  const Json* const found = find(name);
  if (found == nullptr) throw JsonError(fmt::format("it has no member '{}'", name));
  return *found;
}

const Json& Json::at(std::size_t index) const {
  if (index >= elements().size()) throw JsonError(fmt::format("it has no element {}", index));
  return elements()[index];
}

template <typename Value>
Value& Json::become(const char* kind) {
  if (is_null()) value_ = Value();
  return const_cast<Value&>(as<Value>(kind));
}

Json& Json::operator[](std::string_view name) {
  auto& object = become<Object>("an object");
  const auto found = std::ranges::find(object.names, name);
  if (found != object.names.end()) return object.values[static_cast<std::size_t>(found - object.names.begin())];
  object.names.emplace_back(name);
  return object.values.emplace_back();
}

void Json::push_back(Json element) { become<std::vector<Json>>("an array").push_back(std::move(element)); }

void Json::remove_last(std::size_t num) {
  auto& elements = become<std::vector<Json>>("an array");
  elements.resize(elements.size() - num);
}

std::string Json::indented() const {
  std::string text;
  write(text, 0);
  return text;
}

std::string Json::in_one_line() const {
  std::string text;
  write(text, in_one_line_level);
  return text;
}

void Json::write(std::string& text, int level) const {
  if (is_null()) {
    text += "null";
  } else if (is_boolean()) {
    text += get<bool>() ? "true" : "false";
  } else if (is_string()) {
    write_string(text, std::get<std::string>(value_));
  } else if (is_array()) {
    write_items(text, level, "[]", elements(),
                [&](const Json& element, int inner_level) { element.write(text, inner_level); });
  } else if (is_object()) {
    const Json* value = as<Object>("an object").values.data();
    write_items(text, level, "{}", names(), [&](const std::string& name, int inner_level) {
      write_string(text, name);
      text += inner_level == in_one_line_level ? ":" : ": ";
      (value++)->write(text, inner_level);
    });
  } else if (is_number_unsigned()) {
    text += fmt::format("{}", std::get<std::uint64_t>(value_));
  } else if (is_number_integer()) {
    text += fmt::format("{}", std::get<std::int64_t>(value_));
  } else {
    write_number(text, std::get<double>(value_));
  }
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void refuse(const JsonLocation& location, const std::string& reason) {
  throw Error(ExitStatus::bad_command_line, fmt::format("the {} {} is wrong", location.file.kind, location.file.name),
              location.key.empty() ? reason : location.key + ": " + reason,
              location.file.description + " describes the format");
}

Json parse_json(const std::string& text, const JsonFile& file) {
  try {
    return Json::parse(text);
  } catch (const JsonError& error) {
    if (error.byte == 0) refuse({file}, error.what());
    refuse({file}, "not JSON, byte " + std::to_string(error.byte));
  }
}

std::string read_json_text(const JsonFile& file) {
  errno = 0;
  std::ifstream stream(file.name);
  std::string text;
  std::getline(stream, text, '\0');  // all of it; unlike the iterators it does not throw for a folder
  if (!stream.is_open() || stream.bad()) {
    throw Error(ExitStatus::bad_command_line, fmt::format("cannot read the {} {}", file.kind, file.name),
                system_error_text(errno));
  }
  return text;
}

JsonMembers::JsonMembers(const Json& json, JsonLocation location) : json_(json), location_(std::move(location)) {
  if (!json.is_object()) refuse(location_, "is not an object");
}

const Json* JsonMembers::find(const char* name) {
  taken_.insert(name);
  return json_.find(name);
}

const Json& JsonMembers::need(const char* name) {
  const Json* found = find(name);
  if (found == nullptr) refuse(location_.of(name), "is missing");
  return *found;
}

void JsonMembers::refuse_others() const {
  for (const std::string& name : json_.names()) {
    if (taken_.count(name) == 0) refuse(location_.of(name), "is not a known key here");
  }
}

double positive(const Json& json, const JsonLocation& location) {
  if (!json.is_number() || !(json.get<double>() > 0) || json.get<double>() > 1e18)
    refuse(location, "is not a positive number");
  return json.get<double>();
}

double number_between(const Json& json, const JsonLocation& location, double least, double most) {
  if (!json.is_number() || !(json.get<double>() >= least && json.get<double>() <= most))
    refuse(location, fmt::format("is not from {} to {}", least, most));
  return json.get<double>();
}

std::uint64_t whole(const Json& json, const JsonLocation& location, std::uint64_t max) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > max) {
    refuse(location, "is not a whole number" + (max < UINT64_MAX ? " of at most " + std::to_string(max) : ""));
  }
  return json.get<std::uint64_t>();
}

int json_index(const Json& json, const JsonLocation& location) {
  return static_cast<int>(whole(json, location, std::numeric_limits<int>::max()));
}

std::string text_of(const Json& json, const JsonLocation& location) {
  if (!json.is_string()) refuse(location, "is not a text");
  return json.get<std::string>();
}

bool truth_of(const Json& json, const JsonLocation& location) {
  if (!json.is_boolean()) refuse(location, "is neither true nor false");
  return json.get<bool>();
}

}  // namespace leadline
