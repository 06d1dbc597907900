// SPDX-License-Identifier: Apache-2.0
// JSON values to and from those of nlohmann/json, which parses and writes them.
#include "core/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace leadline {

namespace {

using Parsed = nlohmann::ordered_json;

constexpr int max_depth = 100;

Json json_of(Parsed& parsed, int depth = 0) {
  if (parsed.is_boolean()) return parsed.get<bool>();
  if (parsed.is_string()) return std::move(parsed.get_ref<std::string&>());
  if (parsed.is_number_unsigned()) return parsed.get<std::uint64_t>();
  if (parsed.is_number_integer()) return parsed.get<std::int64_t>();
  if (parsed.is_number()) return parsed.get<double>();
  if (parsed.is_null()) return nullptr;
  if (depth == max_depth) throw JsonError(fmt::format("arrays and objects are nested deeper than {}", max_depth));
  Json json = parsed.is_array() ? Json::array() : Json::object();
  if (parsed.is_array()) {
    for (Parsed& element : parsed) json.push_back(json_of(element, depth + 1));
  } else {
    for (auto& [name, value] : parsed.get_ref<Parsed::object_t&>()) json[name] = json_of(value, depth + 1);
  }
  return json;
}

Parsed written_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_null()) return nullptr;
  Parsed written = json.is_array() ? Parsed::array() : Parsed::object();
  if (json.is_array()) {
    for (const Json& element : json.elements()) written.push_back(written_of(element));
  } else {
    for (const std::string& name : json.names()) written[name] = written_of(json.at(name));
  }
  return written;
}

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
  try {
    Parsed parsed = Parsed::parse(text);
    return json_of(parsed);
  } catch (const Parsed::parse_error& error) {
    throw JsonError(error.what(), error.byte);
  } catch (const Parsed::out_of_range& error) {
    throw JsonError(error.what());
  }
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

std::string Json::indented() const { return written_of(*this).dump(2, ' ', false, Parsed::error_handler_t::replace); }

std::string Json::in_one_line() const {
  return written_of(*this).dump(-1, ' ', false, Parsed::error_handler_t::replace);
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
