// SPDX-License-Identifier: Apache-2.0
// The words of a `linktest` command line: its options under their names in LinkTest's help, aliases resolved.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::compat::linktest {

struct OptionEntry {
  const char* name;       ///< as LinkTest's help spells it: "--num-messages"
  char letter;            ///< 'n' for -n; 0 = none
  const char* aliases;    ///< other spellings that LinkTest's documents have, with blanks between; nullptr = none
  const char* value;      ///< what its value is called in the help; nullptr = a switch
  const char* otherwise;  ///< the default, for the help; nullptr = off
  const char* help;
  bool is_required = false;
};

std::span<const OptionEntry> option_table();

/// What was given, by the name in the table; the value of a switch is empty.
class GivenOptions {
 public:
  /// `arguments` as in argv. Throws Error(bad_command_line): an unknown word, an option given twice (by whatever
  /// spelling), a missing value, a value for a switch.
  explicit GivenOptions(const std::vector<std::string>& arguments);

  bool has(const char* name) const { return given_.contains(name); }
  std::optional<std::string> value(const char* name) const;

 private:
  std::map<std::string, std::string, std::less<>> given_;
};

/// Whether the option stands anywhere, whatever else is wrong with the line. `name` and its letter.
bool is_anywhere(const std::vector<std::string>& arguments, const char* name);

}  // namespace leadline::compat::linktest
