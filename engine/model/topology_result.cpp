// SPDX-License-Identifier: Apache-2.0
// Rates out of a topology, a message size and a time.
#include "model/topology_result.hpp"

namespace leadline {

Rates rates_of(const TopologyFacts& topology, const ServedChannels& served, std::uint64_t message_size_bytes,
               double time_ns) {
  const double average = 1e9 * schedule::num_ways(topology.mode) * static_cast<double>(message_size_bytes) / time_ns;
  return {average * served.max_rank, average * static_cast<double>(served.num), average};
}

}  // namespace leadline
