// SPDX-License-Identifier: Apache-2.0
// Reads a list of names; blanks inside a name are part of it.
#include "cli/targets_file.hpp"

#include <fmt/format.h>

#include <sstream>

#include "cli/text_file.hpp"
#include "core/error.hpp"

namespace leadline::cli {

std::string read_targets_file(const std::string& path) {
  return read_text_file("--targets", path, "Name a file with a name of a file in each line");
}

std::vector<std::string> names_in_targets(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && line.front() != '#') names.push_back(line);
  }
  if (names.empty()) {
    throw Error(ExitStatus::bad_command_line, fmt::format("--targets {} names no file", path),
                "it has no line that is not empty and not a comment", "Write one name a line");
  }
  return names;
}

}  // namespace leadline::cli
