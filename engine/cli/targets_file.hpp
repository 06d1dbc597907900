// SPDX-License-Identifier: Apache-2.0
// The file of names that --targets names.
#pragma once

#include <string>
#include <vector>

namespace leadline::cli {

/// Its text; empty for an empty path. Throws Error(bad_command_line) that names the file.
std::string read_targets_file(const std::string& path);

/// The names in it, one a line; empty lines and those that begin with # are skipped. Throws Error(bad_command_line)
/// that names the file of an empty list.
std::vector<std::string> names_in_targets(const std::string& path, const std::string& text);

}  // namespace leadline::cli
