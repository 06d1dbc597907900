// SPDX-License-Identifier: Apache-2.0
// The settings of a transport: what it says it has, and what the user gave.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leadline::transport {

/// One setting that a transport has, as in --transport-option NAME=VALUE.
struct Setting {
  const char* name;     ///< "gid-index"
  const char* value;    ///< for people: "N", "NAME", "yes|no"
  const char* meaning;  ///< one line for people, with the default
};

/// What the user gave, every name known to the transport.
class Settings {
 public:
  /// None given.
  Settings() = default;

  /// `argument` stood behind "name:" and is the value of the first of `known`; `options` are "NAME=VALUE" each.
  /// Throws Error(bad_command_line) for a name that is not known or given twice, and for what has no "=".
  Settings(std::string_view transport, std::span<const Setting> known, std::string_view argument,
           std::span<const std::string> options);

  /// Empty where it was not given.
  std::string text(std::string_view name) const;

  /// Nothing where it was not given. Throws Error(bad_command_line) for anything but a whole number from min to max.
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t min, std::uint64_t max) const;

  /// "yes" or "no"; false where it was not given. Throws Error(bad_command_line) for other words.
  bool is_on(std::string_view name) const;

 private:
  void add(std::string_view transport, std::span<const Setting> known, std::string_view name, std::string_view value);

  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace leadline::transport
