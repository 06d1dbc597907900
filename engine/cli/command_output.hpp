// SPDX-License-Identifier: Apache-2.0
// --output FILE and --json [FILE] of the commands that read: where their text goes, and JSON instead of it.
#pragma once

#include <string>

#include "options/option_table.hpp"

namespace leadline::cli {

/// Where a command puts what it says.
struct CommandOutput {
  std::string path = "-";  ///< "-" = standard output
  bool is_json = false;    ///< instead of text
  bool overwrite = false;

  bool is_standard_output() const { return path == "-"; }
};

/// --output, --json, --overwrite
void declare_output(OptionTable& options, CommandOutput& output);

/// Throws Error(bad_command_line) where --overwrite has no effect.
void check_output(const CommandOutput& output);

/// To standard output, or into the file, which appears when it is whole. Throws Error(bad_command_line) where there is
/// an older file that must stay, run_failed where it cannot be written.
void put_output(const CommandOutput& output, const std::string& text);

}  // namespace leadline::cli
