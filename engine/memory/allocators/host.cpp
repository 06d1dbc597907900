// SPDX-License-Identifier: Apache-2.0
// The allocators of ordinary memory: the C library's, mappings, locked pages and huge pages.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/allocators/allocators.hpp"

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

std::byte* allocate_mmap(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t rounded = whole_pages("mmap", bytes, page);
  std::byte* const data = map_anonymous(rounded, 0);
  if (data == nullptr) fail("mmap", bytes, system_error_text(errno));
  touch(data, rounded, page);
  return data;
}

void release_mmap(std::byte* data, std::size_t bytes) noexcept { munmap(data, bytes); }

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

/// The default size of a huge page; 0 where the kernel has none.
std::size_t read_huge_page_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    std::size_t kib = 0;
    if (key == "Hugepagesize:" && file >> kib) return kib * 1024;
  }
  return 0;
}

/// Read once, since release_huge() needs it again and may neither fail nor find another number.
std::size_t huge_page_bytes() {
  static const std::size_t bytes = read_huge_page_bytes();
  return bytes;
}

std::byte* allocate_huge(std::size_t bytes) {
  const std::size_t page = huge_page_bytes();
  if (page == 0) fail("huge", bytes, "this kernel has no huge pages");
  const std::size_t rounded = whole_pages("huge", bytes, page);
  std::byte* const data = map_anonymous(rounded, MAP_HUGETLB);
  if (data == nullptr) {
    fail("huge", bytes, "MAP_HUGETLB: " + system_error_text(errno),
         "Huge pages must be set aside: see `sysctl vm.nr_hugepages`, and raise it or use another allocator");
  }
  touch(data, rounded, page);
  return data;
}

// Unlike with small pages the kernel does not round the length up itself.
void release_huge(std::byte* data, std::size_t bytes) noexcept {
  const std::size_t page = huge_page_bytes();
  munmap(data, (bytes + page - 1) / page * page);
}

}  // namespace

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

const Allocator aligned_allocator = host_allocator("aligned", "page-aligned memory of the C library (aligned_alloc)",
                                                   allocate_aligned, release_aligned);

const Allocator posix_allocator =
    host_allocator("posix", "page-aligned memory of posix_memalign", allocate_posix, release_posix);

const Allocator mmap_allocator =
    host_allocator("mmap", "a mapping of its own from the kernel (anonymous mmap)", allocate_mmap, release_mmap);

const Allocator pinned_allocator = host_allocator(
    "pinned", "memory that is never paged out (mmap and mlock; limit: ulimit -l)", allocate_pinned, release_pinned);

const Allocator huge_allocator =
    host_allocator("huge", "huge pages (MAP_HUGETLB; set aside with vm.nr_hugepages)", allocate_huge, release_huge);

}  // namespace leadline::memory
