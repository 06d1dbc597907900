// SPDX-License-Identifier: Apache-2.0
// Latency plus size over bandwidth, and a comparison with free memory.
#include "bench/cost.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace leadline::bench {

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

}  // namespace leadline::bench
