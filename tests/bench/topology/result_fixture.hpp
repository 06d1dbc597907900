// SPDX-License-Identifier: Apache-2.0
// A topology test to write, whose numbers say where they belong.
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/topology/output.hpp"
#include "schedule/topology.hpp"
#include "support/result_files.hpp"
#include "support/served_channels.hpp"

namespace leadline::test {

/// Over 5 ranks: 4 is without a channel in the second topology, 0 and 2 in the third.
inline std::vector<schedule::Topology> topologies_of_5() {
  using schedule::ChannelMode;
  using schedule::Shape;
  return {{{.name = "star", .shape = Shape::star, .mode = ChannelMode::answered}, 5},
          {{.name = "halves", .shape = Shape::halves}, 5},
          {{.name = "edges", .shape = Shape::edges, .mode = ChannelMode::one_way, .edges = {{4, 1}, {1, 3}}}, 5}};
}

inline bench::topology::TopologyResult topology_so_far(const std::vector<schedule::Topology>& topologies) {
  bench::topology::TopologyResult result;
  result.provenance = provenance_so_far(topologies.front().num_ranks());
  result.request.command_line = {"leadline", "topology", "\xff"};
  result.request.message_sizes_bytes = {8, 1024, 4096};
  result.request.repeat = 2;
  result.request.num_iterations = 4;
  for (const schedule::Topology& topology : topologies) {
    result.topologies.push_back({topology.spec().name, topology.spec().shape, topology.spec().mode,
                                 topology.num_channels(), topology.max_channels(), topology.spec().extents});
  }
  return result;
}

/// As a plan has them.
inline std::vector<bench::topology::Cell> cells_of(const bench::topology::TopologyResult& result) {
  std::vector<bench::topology::Cell> cells;
  const auto& sizes = result.request.message_sizes_bytes;
  for (int repeat = 0; repeat < result.request.repeat; ++repeat) {
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      for (std::size_t topology = 0; topology < result.topologies.size(); ++topology) {
        cells.push_back({static_cast<int>(topology), static_cast<int>(size), repeat, sizes[size]});
      }
    }
  }
  return cells;
}

inline bench::topology::TopologyFileSetup topology_setup(const cluster::Cluster& cluster, const std::string& path,
                                                         const std::vector<schedule::Topology>& topologies) {
  return {run_setup_for(cluster, path), cells_of(topology_so_far(topologies)), topologies};
}

inline double number_of(const bench::topology::Cell& cell) {
  return 1e6 * (cell.topology_index + 1) + 1e5 * cell.repeat + 1e4 * cell.size_index;
}
inline double arrival_of(const bench::topology::Cell& cell, int rank, std::size_t channel) {
  return number_of(cell) + 100 * rank + static_cast<double>(channel) + 0.25;
}
inline double rank_time_of(const bench::topology::Cell& cell, int rank) { return number_of(cell) + 100 * rank + 50; }
inline double exchange_time_of(const bench::topology::Cell& cell, std::size_t iteration) {
  return number_of(cell) + 1000 + static_cast<double>(iteration);
}

inline bench::topology::ExchangeTimes times_around(double median_ns, std::uint64_t num) {
  return {.num = num,
          .min = median_ns - 0.5,
          .median = median_ns,
          .mean = median_ns + 0.125,
          .p99 = median_ns + 0.25,
          .max = median_ns + 0.5,
          .median_low = median_ns - 0.25,
          .median_high = median_ns + 0.0625};
}

inline bench::topology::CellSummary summary_of(const bench::topology::Cell& cell) {
  bench::topology::CellSummary summary;
  summary.cell = cell;
  summary.with_barrier = times_around(4000, 4);
  summary.exchange = times_around(2000, 4);
  summary.slowest_rank = {3, 1e6};
  summary.fastest_rank = {1, 3e6};
  summary.median_rank_bytes_per_s = 2e6;
  summary.slowest_channel = {4, 1, 1600};
  summary.fairness = 0.75;
  summary.measuring_s = 0.5;
  return summary;
}

/// What `rank` hands over after this cell.
inline void write_cell(bench::topology::TopologyFile& file, const cluster::Cluster& cluster, std::size_t index,
                       const bench::topology::Cell& cell, const std::vector<schedule::Topology>& topologies) {
  const auto& topology = topologies.at(static_cast<std::size_t>(cell.topology_index));
  const auto num_channels = static_cast<std::size_t>(topology.num_channels(cluster.rank()));
  std::vector<double> arrivals, exchanges, with_barrier;
  for (std::size_t channel = 0; channel < num_channels; ++channel) {
    arrivals.push_back(arrival_of(cell, cluster.rank(), channel));
  }
  bench::topology::CellRow row;
  row.num_served = static_cast<std::int32_t>(num_channels);
  row.arrival_ns = arrivals;
  if (num_channels > 0) row.own = times_around(rank_time_of(cell, cluster.rank()), 4);
  for (std::size_t iteration = 0; cluster.rank() == 0 && iteration < 4; ++iteration) {
    exchanges.push_back(exchange_time_of(cell, iteration));
    with_barrier.push_back(exchange_time_of(cell, iteration) + 500);
  }
  row.slowest_rank_ns = exchanges;
  row.with_barrier_ns = with_barrier;
  // The summary counts on rank 0 alone.
  file.write(index, row, cluster.rank() == 0 ? summary_of(cell) : bench::topology::CellSummary{});
}

inline bench::topology::TopologyResult finished(bench::topology::TopologyResult result) {
  for (const bench::topology::Cell& cell : cells_of(result)) {
    result.cells.push_back(summary_of(cell));
    result.cells.back().served = all_channels(result.topologies.at(static_cast<std::size_t>(cell.topology_index)));
  }
  finish(result);
  result.verified_bytes = 77;
  return result;
}

/// A whole run of all cells.
inline void write_topologies(cluster::Cluster& cluster, const bench::topology::TopologyFileSetup& setup) {
  const bench::topology::TopologyResult so_far = topology_so_far(setup.topologies);
  const auto file = bench::topology::open_topology_file(cluster, so_far, setup);
  for (std::size_t index = 0; index < setup.cells.size(); ++index) {
    write_cell(*file, cluster, index, setup.cells[index], setup.topologies);
  }
  file->finish(cluster.rank() == 0 ? finished(so_far) : bench::topology::TopologyResult{});
}

/// The load of a run with --duration.
inline bench::topology::LoadPoint load_point(int number) {
  return {.cell = {.topology_index = number % 3, .size_index = number % 2, .repeat = number, .message_size_bytes = 8},
          .served = {.num = 10 + number, .max_rank = 4},
          .begin_s = number + 0.5,
          .elapsed_s = 1.25,
          .num_exchanges = 1000U + static_cast<unsigned>(number),
          .num_verified = 500U + static_cast<unsigned>(number),
          .time_ns_median = 2000.0 + number,
          .time_ns_max = 9000.0 + number};
}

inline bench::topology::TopologyResult load_so_far(const std::vector<schedule::Topology>& topologies) {
  bench::topology::TopologyResult result = topology_so_far(topologies);
  result.request.duration_s = 60;
  return result;
}

}  // namespace leadline::test
