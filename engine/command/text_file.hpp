// SPDX-License-Identifier: Apache-2.0
// Text files that options name: read whole, edges of a topology test, names of files of a file test.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace leadline::command {

inline constexpr std::size_t max_text_bytes = std::size_t{1} << 28;  // all ranks hold it

/// Read whole, from a file or a pipe; empty for an empty path. Throws Error(bad_command_line) that names option and
/// file, and ends with `hint`: it is not there, cannot be opened, or has more than max_text_bytes.
std::string read_text_file(const std::string& option, const std::string& path, const std::string& hint);

/// Empty for an empty path. Throws Error(bad_command_line) that names the file: it is not there, cannot be
/// opened, or is larger than any list of edges.
std::string read_edges_file(const std::string& path);

/// Its text; empty for an empty path. Throws Error(bad_command_line) that names the file.
std::string read_targets_file(const std::string& path);

/// The names in it, one a line; empty lines and those that begin with # are skipped. Throws Error(bad_command_line)
/// that names the file of an empty list.
std::vector<std::string> names_in_targets(const std::string& path, const std::string& text);

}  // namespace leadline::command
