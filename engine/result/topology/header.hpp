// SPDX-License-Identifier: Apache-2.0
// Everything that the result file of a topology test says beside its measurements.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "model/topology_result.hpp"
#include "result/hdf5/facts.hpp"
#include "result/run_header.hpp"

namespace leadline::result::topology {

/// TopologyFacts as a file has them: in words, so that a reader copes with shapes that it does not know.
struct KeptTopology {
  std::string name, shape, mode;
  std::int64_t num_channels = 0;
  std::int32_t max_channels_rank = 0;
  std::int32_t num_ways = 0;
  std::vector<std::int32_t> extents;  ///< torus only
};

/// A result without its numbers. Lists are in the order of the file.
struct Header : RunHeader {
  std::vector<KeptTopology> topologies;
  std::int32_t num_repeats = 0;
  std::int64_t num_iterations = 0;  ///< timed exchanges of a cell
  bool has_load = false;            ///< --duration: points of load instead of cells
};

/// What a run knows before its first message: not complete, no nonce.
Header header_of(const TopologyResult& so_far);

}  // namespace leadline::result::topology

namespace leadline {

template <>
inline constexpr auto fields<result::topology::KeptTopology> = std::tuple{
    field("name", &result::topology::KeptTopology::name, "", "as asked for: star2"),
    field("shape", &result::topology::KeptTopology::shape, "", "which ranks share a channel: star"),
    field("mode", &result::topology::KeptTopology::mode, "", "how the messages of a channel go: both-ways"),
    field("num_channels", &result::topology::KeptTopology::num_channels, "1", "channels, each counted once"),
    field("max_channels_rank", &result::topology::KeptTopology::max_channels_rank, "1",
          "channels of the rank that has the most"),
    field("num_ways", &result::topology::KeptTopology::num_ways, "1", "messages of a channel in an exchange: 1 or 2"),
    field("extents", &result::topology::KeptTopology::extents, "1",
          "torus only: ranks along each dimension; the first varies fastest"),
};

}  // namespace leadline
