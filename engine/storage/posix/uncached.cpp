// SPDX-License-Identifier: Apache-2.0
// Calls pwritev2 and preadv2 with RWF_DONTCACHE.
#include "storage/posix/uncached.hpp"

#include <sys/uio.h>

#include "storage/page_cache.hpp"

namespace leadline::storage::posix {
namespace {

constexpr int dont_cache = 0x80;  // RWF_DONTCACHE, which headers before Linux 6.14 do not have

}  // namespace

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
