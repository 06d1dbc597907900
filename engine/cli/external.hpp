// SPDX-License-Identifier: Apache-2.0
// Commands that are programs of their own, found by name as git finds them: this is how the analysis joins in.
#pragma once

#include <string>
#include <vector>

namespace leadline::cli {

/// Becomes the program leadline-<command>, beside this program or on the path. Returns only by throwing
/// Error(bad_command_line) where there is none.
int run_external(const std::vector<std::string>& arguments);

/// The names of those that are there, without "leadline-", sorted.
std::vector<std::string> external_commands();

}  // namespace leadline::cli
