// SPDX-License-Identifier: Apache-2.0
// The text of a file that an option names.
#pragma once

#include <cstddef>
#include <string>

namespace leadline::cli {

inline constexpr std::size_t max_text_bytes = std::size_t{1} << 28;  // all ranks hold it

/// Read whole, from a file or a pipe; empty for an empty path. Throws Error(bad_command_line) that names option and
/// file, and ends with `hint`: it is not there, cannot be opened, or has more than max_text_bytes.
std::string read_text_file(const std::string& option, const std::string& path, const std::string& hint);

}  // namespace leadline::cli
