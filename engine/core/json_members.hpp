// SPDX-License-Identifier: Apache-2.0
// Files that people write in JSON: members are taken one by one, and what is wrong is said with file, key and reason.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace leadline {

/// What messages call the file: "the fabric file X is wrong (...). docs/formats/model-fabric.md describes the format".
struct JsonFile {
  std::string kind;  ///< "fabric file"
  std::string name;
  std::string description;  ///< the page of the documentation
};

/// A place in the file, for messages: "faults[2].slow_host". The file outlives it.
struct JsonPlace {
  const JsonFile& file;
  std::string key{};

  JsonPlace of(const std::string& member) const { return {file, key.empty() ? member : key + "." + member}; }
  JsonPlace at(std::size_t index) const { return {file, key + "[" + std::to_string(index) + "]"}; }
};

/// Throws Error(bad_command_line).
[[noreturn]] void refuse(const JsonPlace& place, const std::string& reason);

/// The document; refuses what is no JSON.
nlohmann::json parse_json(const std::string& text, const JsonFile& file);

/// All of the file. Throws Error(bad_command_line) where it cannot be read.
std::string read_json_text(const JsonFile& file);

/// An object whose members are taken one by one; what is left at the end was not known.
class JsonMembers {
 public:
  JsonMembers(const nlohmann::json& json, JsonPlace place);

  const JsonPlace& place() const { return place_; }

  const nlohmann::json* find(const char* name);
  const nlohmann::json& need(const char* name);

  /// Where it stands, `parse(value, place)` goes into `member`.
  template <typename Parse, typename Member>
  bool optional(const char* name, const Parse& parse, Member& member) {
    const nlohmann::json* value = find(name);
    if (value != nullptr) member = parse(*value, place_.of(name));
    return value != nullptr;
  }

  void refuse_others() const;

 private:
  const nlohmann::json& json_;
  JsonPlace place_;
  std::set<std::string> taken_;
};

// Values; each refuses what it is not.

double positive(const nlohmann::json& json, const JsonPlace& place);
double number_between(const nlohmann::json& json, const JsonPlace& place, double least, double most);
std::uint64_t whole(const nlohmann::json& json, const JsonPlace& place,
                    std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
int json_index(const nlohmann::json& json, const JsonPlace& place);
std::string text_of(const nlohmann::json& json, const JsonPlace& place);
bool truth_of(const nlohmann::json& json, const JsonPlace& place);

}  // namespace leadline
