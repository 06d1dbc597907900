// SPDX-License-Identifier: Apache-2.0
// A regular file open for reading at any place, and how much of it is really there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace leadline::result::sion {

class InputFile {
 public:
  InputFile() = default;
  /// Throws Error naming the path: bad_command_line (no such file, no regular file), something_missing (no permission),
  /// run_failed (anything else). Never blocks on a pipe or device.
  explicit InputFile(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::string& path() const { return path_; }
  /// As of opening.
  std::int64_t size_bytes() const { return size_bytes_; }

  /// Up to into.size() bytes from there, fewer only at the end of the file. Throws Error(run_failed) on a read error.
  std::size_t read_at(std::int64_t offset, std::span<char> into) const;

  /// Whether that much of the file is on the disk and not a hole. True where the file system cannot tell holes.
  bool stores_at_least(std::int64_t size) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::int64_t size_bytes_ = 0;
};

}  // namespace leadline::result::sion
