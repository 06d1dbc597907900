// SPDX-License-Identifier: Apache-2.0
// What results keep of a topology test: the head of the file; of a rank in a cell, in HDF5 tables; of points of load,
// in JSON, too.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bench/topology/output.hpp"
#include "bench/topology/result.hpp"
#include "model/fields.hpp"
#include "result/described_json.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/run_header.hpp"

namespace leadline::bench::topology {

/// TopologyFacts as a file has them: in words, so that a reader copes with shapes that it does not know.
struct KeptTopology {
  std::string name, shape, mode;
  std::int64_t num_channels = 0;
  std::int32_t max_channels_rank = 0;
  std::int32_t num_ways = 0;
  std::vector<std::int32_t> extents;  ///< torus only
};

/// A result without its numbers. Lists are in the order of the file.
struct Header : result::RunHeader {
  std::vector<KeptTopology> topologies;
  std::int32_t num_repeats = 0;
  std::int64_t num_iterations = 0;  ///< timed exchanges of a cell
  bool has_load = false;            ///< --duration: points of load instead of cells
};

/// What a run knows before its first message: not complete, no nonce.
Header header_of(const TopologyResult& so_far);

constexpr auto fields_of(Type<KeptTopology> /*any*/) {
  return std::tuple{
      field("name", &KeptTopology::name, "", "as asked for: star2"),
      field("shape", &KeptTopology::shape, "", "which ranks share a channel: star"),
      field("mode", &KeptTopology::mode, "", "how the messages of a channel go: both-ways"),
      field("num_channels", &KeptTopology::num_channels, "1", "channels, each counted once"),
      field("max_channels_rank", &KeptTopology::max_channels_rank, "1", "channels of the rank that has the most"),
      field("num_ways", &KeptTopology::num_ways, "1", "messages of a channel in an exchange: 1 or 2"),
      field("extents", &KeptTopology::extents, "1", "torus only: ranks along each dimension; the first varies fastest"),
  };
}

/// Of a rank: a row of each table.
constexpr auto fields_of(Type<CellRow> /*any*/) {
  return std::tuple{
      field("num_served", &CellRow::num_served, "1",
            "channels of a rank over which messages went: all of them, but for those to lost ranks and of lost pairs",
            Since::later_version),
      field("rank_time_ns_min", result::through(&CellRow::own, &ExchangeTimes::min), "ns",
            "a rank's own time of an exchange, without the closing barrier: fastest"),
      field("rank_time_ns_median", result::through(&CellRow::own, &ExchangeTimes::median), "ns", "the same: median"),
      field("rank_time_ns_mean", result::through(&CellRow::own, &ExchangeTimes::mean), "ns",
            "the same: arithmetic mean"),
      field("rank_time_ns_p99", result::through(&CellRow::own, &ExchangeTimes::p99), "ns", "the same: 99 % quantile"),
      field("rank_time_ns_max", result::through(&CellRow::own, &ExchangeTimes::max), "ns", "the same: slowest"),
  };
}

constexpr auto fields_of(Type<PairAlone> /*any*/) {
  return std::tuple{
      field("topology_index", &PairAlone::topology_index, "", "position in topologies, from 0"),
      field("size_index", &PairAlone::size_index, "", "position in options.message_size_bytes, from 0"),
      field("from", &PairAlone::from, "", "rank"),
      field("to", &PairAlone::to, "", "its partner"),
      field("time_ns", &PairAlone::time_ns, "ns",
            "half of a round trip: median over five at most; of three attempts the least"),
      field("is_suspected", &PairAlone::is_suspected, "",
            "it seemed slow, or is set beside one that did; false = chosen by chance"),
  };
}

/// How a cell and a point of load begin.
template <typename Part>
constexpr auto cell_fields(const char* repeat) {
  return std::tuple{
      field("topology_index", result::through(&Part::cell, &Cell::topology_index), "",
            "position in topologies, from 0"),
      field("repeat", result::through(&Part::cell, &Cell::repeat), "", repeat),
      field("size_index", result::through(&Part::cell, &Cell::size_index), "",
            "position in options.message_size_bytes, from 0"),
      field("num_channels", result::through(&Part::served, &ServedChannels::num), "1",
            "channels over which messages went: all of the topology, but for those of lost ranks and pairs"),
      field("max_channels_rank", result::through(&Part::served, &ServedChannels::max_rank), "1",
            "those of the rank that has the most"),
  };
}

/// The time that it took comes last: where that is not 0, all else is there.
constexpr auto fields_of(Type<LoadPoint> /*any*/) {
  return std::tuple_cat(cell_fields<LoadPoint>("how often all topologies with all sizes had come before"),
                        std::tuple{
                            field("begin_s", &LoadPoint::begin_s, "s", "since the load began"),
                            field("num_exchanges", &LoadPoint::num_exchanges, "1", "exchanges in that time"),
                            field("num_verified", &LoadPoint::num_verified, "1", "so many of them were verified"),
                            field("time_ns_median", &LoadPoint::time_ns_median, "ns",
                                  "of an exchange, its slowest rank, without the closing barrier: median"),
                            field("time_ns_max", &LoadPoint::time_ns_max, "ns", "the same: greatest"),
                            field("elapsed_s", &LoadPoint::elapsed_s, "s", "time that the point took"),
                        });
}

}  // namespace leadline::bench::topology
