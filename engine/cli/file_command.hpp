// SPDX-License-Identifier: Apache-2.0
// What the commands that work on files have in common.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace leadline::cli {

/// Parses argv (program and command included) with the options that the application has, and --help. Options stand
/// once. Throws Error(bad_command_line); HelpWanted where --help stands.
void parse_file_command(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace leadline::cli
