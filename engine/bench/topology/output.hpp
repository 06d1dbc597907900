// SPDX-License-Identifier: Apache-2.0
// The interfaces by which the topology test stores and shows its results while it runs; result/ and output/ implement
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/topology/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

/// What one rank measured in a cell. Spans are valid during the call.
struct CellRow {
  std::int32_t num_served = 0;         ///< channels of this rank over which messages went
  ExchangeTimes own;                   ///< this rank's own time, without the barrier, over the timed exchanges
  std::span<const double> arrival_ns;  ///< by channel of this rank, as schedule::Topology::channels lists them: median
                                       ///< over the traced exchanges; 0 = none, or nothing arrives
  std::span<const double> with_barrier_ns;  ///< every timed exchange, in order; the root's counts
  std::span<const double> slowest_rank_ns;  ///< likewise, of each exchange the slowest rank's own time
};

/// Keeps cells while the run goes on. Every rank has one. All members may throw Error (disk full ...): the caller
/// agrees on it with the others.
class CellStore {
 public:
  virtual ~CellStore() = default;

  /// Local, the same on all ranks: whether any rank can complete the result where rank 0 is lost.
  virtual bool any_rank_can_finish() const { return false; }

  /// Collective: a cell is measured. `index`: its number in the plan, 0-based. Again where the root has changed in it.
  virtual void write(std::size_t index, const CellRow& row, const CellSummary& summary) = 0;

  /// Collective, with --duration only: some seconds of load are over. `index`: the number of the point. Again likewise.
  virtual void write(std::size_t index, const LoadPoint& point) = 0;
};

using TopologyFile = result::ResultFile<CellStore, TopologyResult>;

struct TopologyFileSetup : result::RunFileSetup {
  std::vector<Cell> cells;                            ///< to come; empty with --duration
  const std::vector<schedule::Topology>& topologies;  ///< outlives the file
};

/// Collective: creates and checks the file before the first message and writes what is known: `so_far` is request,
/// provenance and topologies. Throws on every rank the same Error, as open_link_file does.
std::unique_ptr<TopologyFile> open_topology_file(cluster::Cluster& cluster, const TopologyResult& so_far,
                                                 TopologyFileSetup setup);

/// Shows progress; only rank 0 has one. What is not overridden shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void cell_begins(const Cell& /*cell*/, std::size_t /*index*/, std::size_t /*num_cells*/) {}
  virtual void cell_ends(const CellSummary& /*summary*/, double /*elapsed_s*/) {}
  virtual void pair_lost(int /*low*/, int /*high*/, const std::string& /*why*/) {}
  virtual void load_goes_on(const LoadPoint& /*point*/, double /*elapsed_s*/) {}  ///< --duration
};

}  // namespace leadline::bench::topology
