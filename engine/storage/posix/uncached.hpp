// SPDX-License-Identifier: Apache-2.0
// Transfers through the page cache that leave nothing in it (RWF_DONTCACHE, Linux 6.14).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/error.hpp"

namespace leadline::storage::posix {

/// As pwrite(2) and pread(2), errno included: EOPNOTSUPP where the kernel or the file system has no such transfers.
ssize_t write_uncached(int fd, std::uint64_t offset_bytes, std::span<const std::byte> data);
ssize_t read_uncached(int fd, std::uint64_t offset_bytes, std::span<std::byte> data);

/// Error(something_missing) that says so.
Error no_uncached(const std::string& path);

}  // namespace leadline::storage::posix
