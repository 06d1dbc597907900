// SPDX-License-Identifier: Apache-2.0
// Reads a text whole, and what edges files and target files say line by line.
#include "command/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/error.hpp"

namespace leadline::command {

std::string read_text_file(const std::string& option, const std::string& path, const std::string& hint) {
  if (path.empty()) return {};
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} {} cannot be read", option, path), why, hint);
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(system_error_text(error ? error.value() : ENOENT));
  if (std::filesystem::is_directory(status)) refuse(system_error_text(EISDIR));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char piece[1 << 16]; file && text.size() <= max_text_bytes;) {
    file.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() > max_text_bytes) refuse(fmt::format("it has more than {} MiB", max_text_bytes >> 20));
  if (!file.eof()) refuse(system_error_text(errno != 0 ? errno : EIO));
  return text;
}

std::string read_edges_file(const std::string& path) {
  return read_text_file("--edges", path, "Name a file with two ranks a line");
}

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

}  // namespace leadline::command
