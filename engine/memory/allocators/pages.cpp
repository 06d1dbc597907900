// SPDX-License-Identifier: Apache-2.0
// Pages, mappings, copies and failures, for all allocators.
#include "memory/allocators/pages.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline::memory {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t whole_pages(const char* allocator, std::size_t bytes, std::size_t page) {
  if (bytes > static_cast<std::size_t>(PTRDIFF_MAX) - page) {
    fail(allocator, bytes, "larger than the address space");
  }
  return (bytes + page - 1) / page * page;
}

void touch(std::byte* data, std::size_t bytes, std::size_t page) {
  volatile std::byte* const memory = data;  // or the compiler drops stores that nobody reads
  for (std::size_t i = 0; i < bytes; i += page) memory[i] = std::byte{0};
}

std::byte* map_anonymous(std::size_t bytes, int flags) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

void copy_plain_in(std::byte* to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

void copy_plain_out(std::span<std::byte> to, const std::byte* from) { copy_plain_in(to.data(), {from, to.size()}); }

void fail(const char* allocator, std::size_t bytes, std::string why, std::string hint) {
  throw Error(ExitStatus::something_missing,
              fmt::format("allocator '{}' cannot provide {}", allocator, format_bytes(bytes)), std::move(why),
              std::move(hint));
}

}  // namespace leadline::memory
