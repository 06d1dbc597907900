// SPDX-License-Identifier: Apache-2.0
// Memory in huge pages, which an administrator has set aside.
#include <sys/mman.h>

#include <cerrno>
#include <fstream>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"
#include "memory/allocators/pages.hpp"

namespace leadline::memory {
namespace {

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

const Allocator huge_allocator =
    host_allocator("huge", "huge pages (MAP_HUGETLB; set aside with vm.nr_hugepages)", allocate_huge, release_huge);

}  // namespace leadline::memory
