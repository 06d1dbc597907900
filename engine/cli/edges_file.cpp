// SPDX-License-Identifier: Apache-2.0
// Reads the list of edges whole, from a file or a pipe.
#include "cli/edges_file.hpp"

#include "cli/text_file.hpp"

namespace leadline::cli {

std::string read_edges_file(const std::string& path) {
  return read_text_file("--edges", path, "Name a file with two ranks a line");
}

}  // namespace leadline::cli
