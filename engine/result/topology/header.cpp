// SPDX-License-Identifier: Apache-2.0
// The header of a topology test that is being made.
#include "result/topology/header.hpp"

#include "bench/topology/options.hpp"

namespace leadline::result::topology {

Header header_of(const TopologyResult& so_far) {
  const TopologyRequest& request = so_far.request;
  Header header;
  describe_run(header, request, bench::topology::options_of(request), so_far.provenance);
  for (const TopologyFacts& topology : so_far.topologies) {
    header.topologies.push_back({topology.name, name_of(topology.shape), name_of(topology.mode), topology.num_channels,
                                 topology.max_channels_rank, schedule::num_ways(topology.mode), topology.extents});
  }
  header.num_repeats = request.repeat;
  header.num_iterations = static_cast<std::int64_t>(request.num_iterations);
  header.has_load = request.duration_s > 0;
  return header;
}

}  // namespace leadline::result::topology
