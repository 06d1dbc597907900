// SPDX-License-Identifier: Apache-2.0
// How the ranks are spread over hosts, as far as a plan depends on it.
#pragma once

#include <cstdint>
#include <span>

#include "network/network.hpp"

namespace leadline::bench {

/// What `host_of` points to outlives the plan.
struct RankLayout {
  int num_ranks = 1;
  int max_ranks_per_host = 1;
  std::span<const std::uint32_t> host_of{};   ///< host index by rank, in order of first appearance
  const network::Network* network = nullptr;  ///< what the hosts hang on; nullptr = unknown
};

}  // namespace leadline::bench
