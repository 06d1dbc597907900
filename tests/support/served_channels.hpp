// SPDX-License-Identifier: Apache-2.0
// What a run serves that has lost nothing.
#pragma once

#include "model/topology_result.hpp"

namespace leadline {

inline ServedChannels all_channels(const TopologyFacts& topology) {
  return {topology.num_channels, topology.max_channels_rank};
}

}  // namespace leadline
