// SPDX-License-Identifier: Apache-2.0
// Takes values out of JSON, or says why not.
#include "core/json_members.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "core/error.hpp"

namespace leadline {

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
