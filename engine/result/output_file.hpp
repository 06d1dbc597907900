// SPDX-License-Identifier: Apache-2.0
// Files that are written: with positioned writes, or under their name only when they are whole; errors in a user's
// words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "result/result_file.hpp"

namespace leadline::result {

/// An open file; closed without a word when it goes out of scope, with errors by close().
class OutputFile {
 public:
  /// Makes a new empty file, open for reading and writing. An existing one is refused or, if it is a regular file
  /// or a character device, truncated. Throws Error naming the path.
  static OutputFile create(const std::string& path, ExistingFile existing);

  /// Opens what is there for reading and writing; nothing where that does not succeed.
  static std::optional<OutputFile> open_existing(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  const std::string& path() const { return path_; }
  bool is_new() const { return is_new_; }

  /// Writes all of it, whatever the system does in between. Throws Error(run_failed) naming the file and the reason.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void write_at(std::uint64_t offset, std::string_view text) const;

  /// Up to `size` bytes from there; fewer at the end of the file or on an error.
  std::string read_at(std::uint64_t offset, std::size_t size) const;

  /// Throws Error(run_failed) unless the file system has that much left.
  void expect_room(std::uint64_t size_bytes) const;

  void truncate(std::uint64_t size) const;
  void sync() const;
  void close();

  /// True where several hosts may lose each other's neighbouring bytes: network file systems without coherent caches.
  bool needs_one_writing_host() const;

 private:
  OutputFile(std::string path, int fd, bool is_new) : path_(std::move(path)), fd_(fd), is_new_(is_new) {}

  std::string path_;
  int fd_ = -1;
  bool is_new_ = false;
};

/// What a user reads when writing the result failed with this error number.
Error write_error(const std::string& path, int error_number);
Error write_error(const std::string& path, const std::string& why);

/// Something beside the output to write to, which is removed unless it has taken the output's place.
class StagedFile {
 public:
  /// Throws Error(bad_command_line) where the output is there and not to be overwritten, or no regular file.
  StagedFile(const std::string& output, ExistingFile existing);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Where to write. Nothing is there yet.
  const std::string& path() const { return path_; }

  /// The error as the user knows the file: by its name.
  Error named(const Error& error) const;

  /// Gives the file, which is on the disk by now, its name. A link stays a link, to the new file. Throws Error.
  void commit();

 private:
  std::string output_, target_, path_;
  ExistingFile existing_;
};

}  // namespace leadline::result
