// SPDX-License-Identifier: Apache-2.0
// Memory from the C library's aligned_alloc.
#include <cerrno>
#include <cstdlib>

#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"
#include "memory/allocators/pages.hpp"

namespace leadline::memory {
namespace {

std::byte* allocate_aligned(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t rounded = whole_pages("aligned", bytes, page);
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(page, rounded));
  if (data == nullptr) fail("aligned", bytes, system_error_text(errno));
  touch(data, rounded, page);
  return data;
}

void release_aligned(std::byte* data, std::size_t /*bytes*/) noexcept { std::free(data); }

}  // namespace

const Allocator aligned_allocator = host_allocator("aligned", "page-aligned memory of the C library (aligned_alloc)",
                                                   allocate_aligned, release_aligned);

}  // namespace leadline::memory
