// SPDX-License-Identifier: Apache-2.0
// Memory straight from the kernel: a private anonymous mapping.
#include <sys/mman.h>

#include <cerrno>

#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"
#include "memory/allocators/pages.hpp"

namespace leadline::memory {
namespace {

std::byte* allocate_mmap(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t rounded = whole_pages("mmap", bytes, page);
  std::byte* const data = map_anonymous(rounded, 0);
  if (data == nullptr) fail("mmap", bytes, system_error_text(errno));
  touch(data, rounded, page);
  return data;
}

void release_mmap(std::byte* data, std::size_t bytes) noexcept { munmap(data, bytes); }

}  // namespace

const Allocator mmap_allocator =
    host_allocator("mmap", "a mapping of its own from the kernel (anonymous mmap)", allocate_mmap, release_mmap);

}  // namespace leadline::memory
