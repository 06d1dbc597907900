// SPDX-License-Identifier: Apache-2.0
// Open file descriptors whose calls take the path past the page cache that was asked for: direct, or uncached
// (RWF_DONTCACHE, Linux 6.14).
#include "storage/posix/opened.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"
#include "storage/page_cache.hpp"

namespace leadline::storage::posix {
namespace {

const char* hint_for(int error_number, Access access) {
  switch (error_number) {
    case ENOENT:
      return access == Access::write ? "Its directory must be there before" : "Write it first: --op write, or both";
    case EMFILE:
      return "Raise the limit of open files (ulimit -n)";
    default:
      return "";
  }
}

int flags_for(Access access) {
  switch (access) {
    case Access::write:
      return O_WRONLY | O_CREAT;
    case Access::read:
      return O_RDONLY;
    case Access::read_and_write:
      return O_RDWR;
  }
  return O_RDONLY;
}

int open_patiently(const std::string& path, int flags) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags, 0666);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

Error no_direct(const std::string& path, const std::string& why) {
  return Error(ExitStatus::something_missing, "no direct I/O on " + path, why,
               "Leave out --direct, or name another --target");
}

/// What the file system says of direct I/O (Linux 6.1). Throws where that is "none": such calls would go through the
/// page cache, without an error.
Alignment direct_alignment(int fd, const std::string& path) {
#ifdef STATX_DIOALIGN
  struct statx status {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN) != 0) {
    if (status.stx_dio_offset_align == 0) {
      throw no_direct(path, "the file system " + file_system_of(path) + " has none for this file");
    }
    return {status.stx_dio_mem_align, status.stx_dio_offset_align};
  }
#else
  static_cast<void>(fd);
  static_cast<void>(path);
#endif
  return {};
}

Alignment check_direct(int fd, const std::string& path) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_DIRECT) == 0) throw no_direct(path, "the system took O_DIRECT away");
  // Newer kernels take the flag on tmpfs, too, where it means nothing.
  const std::string file_system = file_system_of(path);
  if (is_memory(file_system)) throw no_direct(path, file_system + " keeps its files in memory alone");
  return direct_alignment(fd, path);
}

/// Reads tell for writes, too: a file system has both or none.
void check_uncached(const std::string& path) {
  const Descriptor file(open_patiently(path, O_RDONLY | O_CLOEXEC));
  std::byte one{};
  if (!file || read_uncached(file.fd(), 0, {&one, 1}) >= 0) return;  // what else is wrong, the first call will tell
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) return;
  throw no_uncached(path);
}

}  // namespace

Opened open_descriptor(const std::string& path, Access access, CachePath cache_path) {
  const bool is_direct = cache_path == CachePath::direct;
  // O_NONBLOCK: opening a FIFO would wait for a process at its other end. It has no effect on files.
  const int flags = flags_for(access) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (is_direct ? O_DIRECT : 0);
  Opened opened{Descriptor(open_patiently(path, flags)), {}};
  if (!opened.file) {
    const int error = errno;
    if (error == EINVAL && is_direct)
      throw no_direct(path, "the file system " + file_system_of(path) + " refuses O_DIRECT");
    throw Error(ExitStatus::run_failed,
                "opening " + path + (access == Access::write ? " to write" : " to read") + " failed",
                system_error_text(error), hint_for(error, access));
  }
  struct stat status {};
  if (::fstat(opened.file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(ExitStatus::run_failed, "opening " + path + " failed", "it is no ordinary file");
  }
  if (is_direct) opened.alignment = check_direct(opened.file.fd(), path);
  if (cache_path == CachePath::uncached) check_uncached(path);
  return opened;
}

ssize_t write_uncached(int fd, std::uint64_t offset_bytes, std::span<const std::byte> data) {
  const iovec piece{const_cast<std::byte*>(data.data()), data.size()};
  return ::pwritev2(fd, &piece, 1, static_cast<off_t>(offset_bytes), dont_cache);
}

ssize_t read_uncached(int fd, std::uint64_t offset_bytes, std::span<std::byte> data) {
  const iovec piece{data.data(), data.size()};
  return ::preadv2(fd, &piece, 1, static_cast<off_t>(offset_bytes), dont_cache);
}

Error no_uncached(const std::string& path) {
  return Error(ExitStatus::something_missing, "no uncached I/O on " + path,
               "this kernel, or its file system " + file_system_of(path) + ", knows no RWF_DONTCACHE",
               "It takes Linux 6.14 and ext4, xfs or btrfs; leave out --uncached, or try --direct");
}

}  // namespace leadline::storage::posix
