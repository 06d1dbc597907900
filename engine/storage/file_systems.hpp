// SPDX-License-Identifier: Apache-2.0
// What is known of file systems by their names, as far as measuring on them goes.
#pragma once

#include <cstdint>
#include <string>

namespace leadline::storage {

/// How far the kernel's page cache tells what of a file lies in memory.
enum class CacheSight : std::uint8_t {
  full,      ///< cachestat(2), and mincore(2)
  mappings,  ///< mincore(2) alone: other calls look at pages that nothing goes through
  none,      ///< the file system has a cache of its own
};

CacheSight cache_sight(const std::string& file_system);

}  // namespace leadline::storage
