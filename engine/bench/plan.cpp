// SPDX-License-Identifier: Apache-2.0
// Costs of messages and memory, and the memory that a process can still get here.
#include "bench/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "core/error.hpp"

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

double message_s(const CostAssumption& assumption, std::uint64_t size_bytes) {
  return 1e-9 * assumption.latency_ns + static_cast<double>(size_bytes) / assumption.bandwidth_bytes_per_s;
}

std::uint64_t whole_bytes(double bytes) {
  constexpr double too_many = 0x1p64;
  return bytes < too_many ? static_cast<std::uint64_t>(bytes) : UINT64_MAX;
}

void check_available(const HostDemand& demand, std::uint64_t available_bytes, const std::string& hint) {
  if (demand.bytes <= static_cast<double>(available_bytes)) return;
  throw Error(ExitStatus::something_missing, "the message buffers do not fit into memory",
              fmt::format("{} ranks on a host need {:.1f} GiB, {:.1f} GiB are free", demand.num_ranks,
                          demand.bytes / (1 << 30), static_cast<double>(available_bytes) / (1 << 30)),
              hint);
}

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
