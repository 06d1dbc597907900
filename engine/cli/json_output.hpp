// SPDX-License-Identifier: Apache-2.0
// --json [FILE] of the commands that read: JSON instead of text, on standard output or in a file.
#pragma once

#include <string>

#include "options/option_table.hpp"

namespace leadline::cli {

/// Where JSON goes, if it is wanted.
struct JsonOutput {
  std::string path;  ///< "-" = standard output; empty = text instead
  bool overwrite = false;

  bool is_wanted() const { return !path.empty(); }
};

/// --json, --overwrite
void declare_json(OptionTable& options, JsonOutput& json);

/// Throws Error(bad_command_line) where --overwrite has no effect.
void check_json(const JsonOutput& json);

/// To standard output, or into the file, which appears when it is whole. Throws Error(bad_command_line) where there is
/// an older file that must stay, run_failed where it cannot be written.
void put_json(const JsonOutput& json, const std::string& document);

}  // namespace leadline::cli
