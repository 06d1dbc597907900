// SPDX-License-Identifier: Apache-2.0
// Open file descriptors whose calls take the path past the page cache that was asked for: direct, or uncached
// (RWF_DONTCACHE, Linux 6.14).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "storage/storage.hpp"

namespace leadline::storage::posix {

/// Multiples that direct calls must keep to; 1 where that is unknown.
struct Alignment {
  std::uint32_t memory_bytes = 1, offset_bytes = 1;
};

inline constexpr int dont_cache = 0x80;  // RWF_DONTCACHE, which headers before Linux 6.14 do not have

struct Opened {
  Descriptor file;
  Alignment alignment;
};

/// Local. Throws Error(run_failed) naming the file, Error(something_missing) where its file system or the kernel has no
/// such way past the page cache.
Opened open_descriptor(const std::string& path, Access access, CachePath cache_path);

/// As pwrite(2) and pread(2), errno included: EOPNOTSUPP where the kernel or the file system has no such transfers.
ssize_t write_uncached(int fd, std::uint64_t offset_bytes, std::span<const std::byte> data);
ssize_t read_uncached(int fd, std::uint64_t offset_bytes, std::span<std::byte> data);

/// Error(something_missing) that says so.
Error no_uncached(const std::string& path);

}  // namespace leadline::storage::posix
