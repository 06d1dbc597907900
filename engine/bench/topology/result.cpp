// SPDX-License-Identifier: Apache-2.0
// Names of options' values; rates out of a topology, a message size and a time.
#include "bench/topology/result.hpp"

namespace leadline::bench::topology {

constexpr Named<Rate> rate_names[] = {
    {Rate::local, "local"},
    {Rate::total, "total"},
    {Rate::average, "average"},
};

std::span<const Named<Rate>> names_of(Rate /*any*/) { return rate_names; }

const char* name_of(Rate rate) { return name_in(rate_names, rate); }

Rates rates_of(const TopologyFacts& topology, const ServedChannels& served, std::uint64_t message_size_bytes,
               double time_ns) {
  const double average = 1e9 * schedule::num_ways(topology.mode) * static_cast<double>(message_size_bytes) / time_ns;
  return {average * served.max_rank, average * static_cast<double>(served.num), average};
}

}  // namespace leadline::bench::topology
