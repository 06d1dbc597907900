// SPDX-License-Identifier: Apache-2.0
// Files that are written: with positioned writes, or under their name only when they are whole; errors in a user's
// words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

  /// Whether the path still leads to this file: not where it has been removed, moved or replaced.
  bool has_its_name() const;

  /// Where it has been removed, a copy takes the name, and is the open file from now on. Throws Error(run_failed) where
  /// that cannot be, and where another file has the name now.
  void restore_name();

  /// The same for a run that ends: the open file stays as it is, since another thread may write to it.
  void leave_copy_under_name() const;

  /// Throws Error(run_failed) where another file has the name now.
  void expect_not_replaced() const;

  /// The file has been moved to this path.
  void moved_to(const std::string& path) { path_ = path; }

  /// Writes all of it, whatever the system does in between. Throws Error(run_failed) naming the file and the reason.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void write_at(std::uint64_t offset, std::string_view text) const;

  /// Up to `size` bytes from there; fewer at the end of the file or on an error.
  std::string read_at(std::uint64_t offset, std::size_t size) const;

  /// Throws Error(run_failed) unless the file system has that much left.
  void expect_room(std::uint64_t size_bytes) const;

  /// Makes sure that the first bytes can be written. Throws Error(run_failed) where there is no room for them.
  void reserve(std::uint64_t size_bytes) const;

  std::uint64_t size_bytes() const;
  void truncate(std::uint64_t size) const;
  void sync() const;
  void close();

  /// True where several hosts may lose each other's neighbouring bytes: network file systems without coherent caches.
  bool needs_one_writing_host() const;

 private:
  OutputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  /// What has the name now; nothing where this file has it.
  std::optional<OutputFile> copy_under_name() const;

  std::string path_;
  int fd_ = -1;
};

/// Gathers bytes that lie behind each other in a file: where there are so many, each write has 1 MiB or more and ends
/// at a multiple of 1 MiB, as parallel file systems like it. Keeps less than 2 MiB.
class GatheredWrites {
 public:
  using Write = std::function<void(std::uint64_t offset, std::string_view bytes)>;
  explicit GatheredWrites(Write write) : write_(std::move(write)) {}

  /// What is not behind what came last begins anew. Throws as `write` does, also flush(), which the caller calls at the
  /// end.
  void add(std::uint64_t offset, std::string_view bytes);
  void flush();

 private:
  Write write_;
  std::uint64_t begin_ = 0;
  std::string bytes_;
};

/// What a user reads when writing the result failed with this error number.
Error write_error(const std::string& path, int error_number);
Error write_error(const std::string& path, const std::string& why);

/// In a run that ends for this reason: tells that what was measured is not kept, unless the reason says so.
void tell_not_kept(const Error& error, const std::string& reason) noexcept;

/// Something beside the output to write to, which is removed unless it has taken the output's place.
class StagedFile {
 public:
  /// Throws Error(bad_command_line) where the output is there and not to be overwritten, or no regular file, or its
  /// folder is not there, and Error(something_missing) where it may not be written to.
  StagedFile(const std::string& output, ExistingFile existing);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Where to write. Nothing is there yet.
  const std::string& path() const { return path_; }

  /// The same as an open file, with the owner and the permissions of what it replaces. Throws Error naming the output.
  OutputFile create() const;

  /// The error as the user knows the file: by its name.
  Error named(const Error& error) const;

  /// Gives the file, which is on the disk by now, its name. A link stays a link, to the new file. Throws Error.
  void commit();

 private:
  struct Access {
    unsigned mode = 0, user = 0, group = 0;
  };

  std::string output_, target_, path_;
  ExistingFile existing_;
  std::optional<Access> replaced_;
};

/// Writes the text to the file so that at any moment the name leads to all of it or to what was there before; to a
/// character device directly. Throws Error naming the path, as StagedFile does.
void write_document(const std::string& path, ExistingFile existing, std::string_view text);

/// Throws what write_document() would throw of this name and its folder, before there is a text.
void expect_document_can_be_written(const std::string& path, ExistingFile existing);

}  // namespace leadline::result
