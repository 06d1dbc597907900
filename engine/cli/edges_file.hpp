// SPDX-License-Identifier: Apache-2.0
// The text of the file that --edges names.
#pragma once

#include <string>

namespace leadline::cli {

/// Empty for an empty path. Throws Error(bad_command_line) that names the file: it is not there, cannot be
/// opened, or is larger than any list of edges.
std::string read_edges_file(const std::string& path);

}  // namespace leadline::cli
