// SPDX-License-Identifier: Apache-2.0
// Reads a text whole, and says what is in the way.
#include "cli/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/error.hpp"

namespace leadline::cli {

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

}  // namespace leadline::cli
