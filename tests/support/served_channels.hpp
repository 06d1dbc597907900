// SPDX-License-Identifier: Apache-2.0
// What a run serves that has lost nothing.
#pragma once

#include "bench/topology/result.hpp"

namespace leadline {

inline bench::topology::ServedChannels all_channels(const bench::topology::TopologyFacts& topology) {
  return {topology.num_channels, topology.max_channels_rank};
}

}  // namespace leadline
