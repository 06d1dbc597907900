// SPDX-License-Identifier: Apache-2.0
// Memory that the kernel keeps in place: a mapping that is locked.
#include <sys/mman.h>

#include <cerrno>

#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"
#include "memory/allocators/pages.hpp"

namespace leadline::memory {
namespace {

std::byte* allocate_pinned(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t rounded = whole_pages("pinned", bytes, page);
  std::byte* const data = map_anonymous(rounded, 0);
  if (data == nullptr) fail("pinned", bytes, system_error_text(errno));
  if (mlock(data, rounded) != 0) {
    const int error = errno;
    munmap(data, rounded);
    fail("pinned", bytes, "mlock: " + system_error_text(error),
         "Locked memory is limited: see `ulimit -l`, and raise it or use another allocator");
  }
  touch(data, rounded, page);
  return data;
}

// Unmapping unlocks.
void release_pinned(std::byte* data, std::size_t bytes) noexcept { munmap(data, bytes); }

}  // namespace

const Allocator pinned_allocator = host_allocator(
    "pinned", "memory that is never paged out (mmap and mlock; limit: ulimit -l)", allocate_pinned, release_pinned);

}  // namespace leadline::memory
