// SPDX-License-Identifier: Apache-2.0
// One call each, and what failed where it did.
#include "storage/posix/metadata.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"

namespace leadline::storage::posix {
namespace {

constexpr mode_t all_may_read_and_write = 0666, all_may_enter = 0777;  // less the process's umask

const char* hint_for_metadata(int error_number) {
  switch (error_number) {
    case EDQUOT:
    case ENOSPC:
      return "Look at quotas and free inodes, or choose fewer --objects";
    case EMLINK:
      return "The file system allows no more directories in one: choose fewer --objects, or --items files";
    case ENOENT:
      return "It was there before: see that nobody else removes files there, and that all hosts see the same ones";
    case EMFILE:
    case ENFILE:
      return more_descriptors;
    default:
      return "";
  }
}

[[noreturn]] void throw_failed(const char* doing, const std::string& path) {
  const int error_number = errno;
  throw Error(ExitStatus::run_failed, fmt::format("{} {} failed", doing, path), system_error_text(error_number),
              hint_for_metadata(error_number));
}

Descriptor opened(const char* doing, const std::string& path, int flags) {
  for (;;) {
    Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, all_may_read_and_write));
    if (file) return file;
    if (errno != EINTR) throw_failed(doing, path);
  }
}

}  // namespace

void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), all_may_enter) != 0) throw_failed("making directory", path);
}

void remove_directory(const std::string& path) {
  if (::rmdir(path.c_str()) != 0) throw_failed("removing directory", path);
}

Descriptor create_file(const std::string& path) { return opened("creating", path, O_WRONLY | O_CREAT | O_EXCL); }

Descriptor open_file(const std::string& path) { return opened("opening", path, O_RDONLY); }

std::uint64_t stat_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_failed("looking at", path);
  return static_cast<std::uint64_t>(status.st_size);
}

void unlink_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0) throw_failed("removing", path);
}

void write_file(const Descriptor& file, std::span<const std::byte> data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t num_written = ::write(file.fd(), data.data(), data.size());
    if (num_written < 0 && errno == EINTR) continue;
    if (num_written == 0) errno = ENOSPC;
    if (num_written <= 0) throw_failed("writing", path);
    data = data.subspan(static_cast<std::size_t>(num_written));
  }
}

std::size_t read_file(const Descriptor& file, std::span<std::byte> data, const std::string& path) {
  std::size_t num_read = 0;
  while (num_read < data.size()) {
    const ssize_t num_more = ::read(file.fd(), data.data() + num_read, data.size() - num_read);
    if (num_more < 0 && errno == EINTR) continue;
    if (num_more < 0) throw_failed("reading", path);
    if (num_more == 0) break;
    num_read += static_cast<std::size_t>(num_more);
  }
  return num_read;
}

void sync_file(const Descriptor& file, const std::string& path) {
  if (::fsync(file.fd()) != 0) throw_failed("syncing", path);
}

void close_file(Descriptor& file, const std::string& path) {
  if (const int error_number = file.close(); error_number != 0) {
    errno = error_number;
    throw_failed("closing", path);
  }
}

}  // namespace leadline::storage::posix
