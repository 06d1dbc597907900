// SPDX-License-Identifier: Apache-2.0
// An open file descriptor of which is known that its calls go the way that was asked for.
#pragma once

#include <cstdint>
#include <string>

#include "storage/descriptor.hpp"
#include "storage/storage.hpp"

namespace leadline::storage::posix {

/// Multiples that direct calls must keep to; 1 where nobody said.
struct Alignment {
  std::uint32_t memory_bytes = 1, offset_bytes = 1;
};

struct Opened {
  Descriptor file;
  Alignment alignment;
};

/// Local. Throws Error(run_failed) naming the file, Error(something_missing) where its file system or the kernel has no
/// such way past the page cache.
Opened open_descriptor(const std::string& path, Access access, CachePath cache_path);

}  // namespace leadline::storage::posix
