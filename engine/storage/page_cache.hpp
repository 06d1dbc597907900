// SPDX-License-Identifier: Apache-2.0
// Which file system a file is on, and what of the file lies in the kernel's page cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace leadline::storage {

/// Pages of a rank's parts of its files in its host's page cache.
struct CacheState {
  bool is_known = false;
  std::uint64_t pages = 0;  ///< that these parts have
  std::uint64_t cached = 0, dirty = 0, writeback = 0;
};

struct ByteRange {
  std::uint64_t offset_bytes = 0, size_bytes = 0;
};

/// Local: pages of these stretches of the file in the page cache: cachestat(2), where the kernel has it (6.5), else
/// mincore(2), which knows no dirty ones; is_known is false where neither tells (the file is another user's, the file
/// system has a cache of its own), or the file is not there. Stretches ascend, and end at the latest where the file
/// does.
CacheState cache_state(const std::string& path, std::span<const ByteRange> stretches);

/// Whether dirty pages can be told from clean ones here, and on the file system of an existing `path`, where one is
/// given.
bool knows_dirty_pages(const std::string& path = {});

/// Local: syncs the file and drops its pages (posix_fadvise). Throws Error(run_failed) naming the file. What could not
/// be dropped, cache_state() tells.
void drop_from_cache(const std::string& path);

/// Local: "ext4", "tmpfs", "nfs", "lustre" ..., or the number in hexadecimal, of an existing directory or file; empty
/// where that is unknown.
std::string file_system_of(const std::string& path);

/// Whether such a file system keeps its files in memory alone.
bool is_memory(const std::string& file_system);

/// Local: bytes that this user can still write to the file system of an existing path; most there is where unknown.
std::uint64_t free_bytes(const std::string& path);

/// How well the kernel's page cache shows what of a file is in memory.
enum class CacheSight : std::uint8_t {
  full,      ///< cachestat(2), and mincore(2)
  mappings,  ///< mincore(2) alone: other calls look at pages that nothing goes through
  none,      ///< the file system has a cache of its own
};

CacheSight cache_sight(const std::string& file_system);

}  // namespace leadline::storage
