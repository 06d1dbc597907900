// SPDX-License-Identifier: Apache-2.0
// How every command takes its words: CLI11 does the work, errors and help come out our way.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace leadline::cli {

/// Not an error: the text that --help prints.
struct HelpWanted {
  std::string text;
};

/// Parses argv (program and command included) with the options that the application has, and --help. Options stand
/// once. Throws Error(bad_command_line); HelpWanted where --help stands.
void parse_command_line(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace leadline::cli
