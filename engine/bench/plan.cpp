// SPDX-License-Identifier: Apache-2.0
// Costs of messages and memory, and the memory that a process can still get here.
#include "bench/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

#include "core/control_group.hpp"
#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline::bench {

bool is_on_one_host(const RankLayout& rank_layout) {
  const auto& host_of = rank_layout.host_of;
  return std::adjacent_find(host_of.begin(), host_of.end(), std::not_equal_to<>()) == host_of.end();
}

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
              fmt::format("{} ranks on a host need {}, {} are free", demand.num_ranks,
                          about_bytes(whole_bytes(demand.bytes)), about_bytes(available_bytes)),
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
  return std::min(available, memory_left_bytes().value_or(UINT64_MAX));
}

}  // namespace leadline::bench
