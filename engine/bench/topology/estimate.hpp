// SPDX-License-Identifier: Apache-2.0
// What a topology test will cost in memory and time, for its plan.
#pragma once

#include <cstdint>

#include "bench/topology/plan.hpp"

namespace leadline::bench::topology {

/// As num_slots() says, for a rank with at most so many channels.
std::uint32_t num_slots_for(const TopologyRequest& request, std::int32_t num_channels);

/// Of a plan that has everything else. O(ranks) of memory.
Estimate estimate_of(const TopologyRequest& request, const Plan& plan);

}  // namespace leadline::bench::topology
