// SPDX-License-Identifier: Apache-2.0
// Memory from posix_memalign.
#include <stdlib.h>

#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"
#include "memory/allocators/pages.hpp"

namespace leadline::memory {
namespace {

std::byte* allocate_posix(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t rounded = whole_pages("posix", bytes, page);
  void* data = nullptr;
  if (const int status = posix_memalign(&data, page, rounded); status != 0) {
    fail("posix", bytes, system_error_text(status));
  }
  touch(static_cast<std::byte*>(data), rounded, page);
  return static_cast<std::byte*>(data);
}

void release_posix(std::byte* data, std::size_t /*bytes*/) noexcept { free(data); }

}  // namespace

const Allocator posix_allocator =
    host_allocator("posix", "page-aligned memory of posix_memalign", allocate_posix, release_posix);

}  // namespace leadline::memory
