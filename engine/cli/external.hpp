// SPDX-License-Identifier: Apache-2.0
// Commands that are programs of their own, found by name as git finds them: the analysis package's commands are such
// programs.
#pragma once

#include <string>
#include <vector>

namespace leadline::cli {

/// Whether a program may be named so: no option, no path.
bool is_command_name(const std::string& name);

/// Whether there is a program leadline-<command>, beside this program or on the path.
bool has_program(const std::string& command);

/// Becomes that program, which there is. Returns only by throwing Error(something_missing) where it cannot be run.
int run_external(const std::vector<std::string>& arguments);

/// What `leadline-COMMAND --describe-options` prints; empty where it cannot be run or ends with an error.
std::string external_description(const std::string& command);

/// The names of those that are there, without "leadline-", sorted.
std::vector<std::string> external_commands();

}  // namespace leadline::cli
