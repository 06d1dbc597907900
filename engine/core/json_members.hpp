// SPDX-License-Identifier: Apache-2.0
// Files that people write in JSON: members are taken one by one, and what is wrong is said with file, key and reason.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "core/json.hpp"

namespace leadline {

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
