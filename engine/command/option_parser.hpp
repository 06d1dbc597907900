// SPDX-License-Identifier: Apache-2.0
// Parses a command line by its table of options, and suggests what a wrong word most probably means.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "options/option_table.hpp"

namespace leadline::command {

/// Not an error: the text that --help prints.
struct HelpWanted {
  std::string text;
};

/// Not an error: what --describe-options tells, as the analysis commands do.
struct DescriptionWanted {
  Json description;
};

/// The options of a command, then its command line.
class OptionParser : public OptionTable {
 public:
  /// `command` as people type it: "leadline link".
  OptionParser(std::string command, std::string description, std::string epilogue);

  /// argv, of which the first `num_words` are the program and the command. Throws Error(bad_command_line), which names
  /// the option that was probably meant; HelpWanted where --help stands, DescriptionWanted where --describe-options
  /// does.
  void parse(const std::vector<std::string>& arguments, std::size_t num_words = 2);

  /// Whether the command line had an option ("--fill-seed"); false for one that was not declared.
  bool is_given(const std::string& option) const { return given_.contains(option); }

 private:
  [[noreturn]] void throw_unknown(const std::string& word) const;

  std::string command_, description_, epilogue_;
  std::set<std::string> given_;
};

/// The nearest by edit distance; empty where none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// The option that was probably meant by an unknown one: by an earlier spelling, by a part of its name, by edit
/// distance. Empty where none is near.
std::string meant_option(const std::string& option, const std::vector<std::string>& known);

/// How sizes are written.
inline constexpr const char* sizes_help =
    "Sizes: 1024, 1KiB, 16MiB (1024-based), 1MB (1000-based); 8B,1KiB,4MiB is a list, 1B-4MiB doubles each time,\n"
    "1KiB-1MiB*4 multiplies by 4, 100B-1000B+100B adds 100 B.\n";

/// What the exit status of a benchmark means.
inline constexpr const char* exit_status_help =
    "Exit status: 0 fine; 1 a condition that you asked for is not met, or ranks or pairs of ranks were lost; 2 the\n"
    "command line is wrong; 3 something is missing here; 4 the run failed on the way.\n";

}  // namespace leadline::command
