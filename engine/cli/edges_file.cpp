// SPDX-License-Identifier: Apache-2.0
// Reads the list of edges whole, from a file or a pipe.
#include "cli/edges_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/error.hpp"

namespace leadline::cli {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 28;  // ten million edges; all ranks hold it

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitStatus::bad_command_line, fmt::format("--edges {} cannot be read", path), why,
              "Name a file with two ranks a line");
}

}  // namespace

std::string read_edges_file(const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(path, system_error_text(error ? error.value() : ENOENT));
  if (std::filesystem::is_directory(status)) refuse(path, system_error_text(EISDIR));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char piece[1 << 16]; file && text.size() <= max_bytes;) {
    file.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() > max_bytes) refuse(path, fmt::format("it has more than {} MiB", max_bytes >> 20));
  if (!file.eof()) refuse(path, system_error_text(errno != 0 ? errno : EIO));
  return text;
}

}  // namespace leadline::cli
