// SPDX-License-Identifier: Apache-2.0
// Free memory out of /proc/meminfo and the limits of control groups.
#include "bench/free_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace leadline::bench {
namespace {

std::uint64_t read_number(const std::filesystem::path& file, std::uint64_t otherwise) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  return in >> value ? value : otherwise;  // "max" is no number: no limit
}

std::uint64_t control_group_leaves() {
  constexpr std::uint64_t unlimited = UINT64_MAX;
  for (const auto& [limit_file, usage_file] :
       {std::pair{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        std::pair{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const std::uint64_t limit = read_number(limit_file, unlimited);
    if (limit == unlimited) continue;
    const std::uint64_t used = read_number(usage_file, 0);
    return limit > used ? limit - used : 0;
  }
  return unlimited;
}

}  // namespace

std::uint64_t available_memory_bytes() {
  std::uint64_t available =
      static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key, rest; meminfo >> key;) {
    std::uint64_t kibibytes = 0;
    if (key == "MemAvailable:" && meminfo >> kibibytes) {
      available = kibibytes * 1024;
      break;
    }
    std::getline(meminfo, rest);
  }
  return std::min(available, control_group_leaves());
}

}  // namespace leadline::bench
