// SPDX-License-Identifier: Apache-2.0
// What the plans of all benchmarks share: how the ranks are spread over hosts, what messages cost, and which memory
// there is.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "network/network.hpp"

namespace leadline::bench {

/// What `host_of` points to outlives the plan.
struct RankLayout {
  int num_ranks = 1;
  int max_ranks_per_host = 1;
  std::span<const std::uint32_t> host_of{};   ///< host index by rank, in order of first appearance
  const network::Network* network = nullptr;  ///< the physical network; nullptr = unknown
};

bool is_on_one_host(const RankLayout& rank_layout);

/// The cost of a message that an estimate assumes; a guess for commodity networks, printed with the estimate.
struct CostAssumption {
  double latency_ns = 10'000;
  double bandwidth_bytes_per_s = 1 << 30;
};

double message_s(const CostAssumption& assumption, std::uint64_t size_bytes);

/// An estimate as a number; what does not fit is the most there is.
std::uint64_t whole_bytes(double bytes);

/// What the ranks of a host need together.
struct HostDemand {
  int num_ranks = 1;
  double bytes = 0;
};

/// Throws Error(something_missing) with this hint where less is available.
void check_available(const HostDemand& demand, std::uint64_t available_bytes, const std::string& hint);

/// Bytes: free memory of the host, or of its control group.
std::uint64_t available_memory_bytes();

}  // namespace leadline::bench
