// SPDX-License-Identifier: Apache-2.0
// The result of a topology test in HDF5: rank 0 makes the file, every rank writes its pieces into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/topology/fields.hpp"
#include "bench/topology/output.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/hdf5/run_store.hpp"

namespace leadline::bench::topology {

/// One topology's lists and matrices; bytes from the beginning of the file. The matrices are not there with a load.
struct TopologyOffsets {
  std::uint64_t row_start = 0, partner = 0, starts = 0;
  std::uint64_t arrival_time_ns = 0;
  result::hdf5::FieldOffsets<CellRow> ranks{};
  std::uint64_t exchange_time_ns = 0, exchange_with_barrier_time_ns = 0;
};

using LoadOffsets = result::hdf5::FieldOffsets<LoadPoint>;

struct Offsets {
  result::RunOffsets run;
  std::vector<TopologyOffsets> topologies;
  LoadOffsets load{};
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed).
Offsets create_structure(const std::string& path, const Header& header);

class Hdf5Store : public result::RunStore<TopologyFile, TopologyResult, Header, Offsets> {
 public:
  /// Collective; see open_topology_file.
  Hdf5Store(cluster::Cluster& cluster, const TopologyResult& so_far, TopologyFileSetup setup);

  void write(std::size_t index, const CellRow& row, const CellSummary& summary) override;
  void write(std::size_t index, const LoadPoint& point) override;

 private:
  /// Where the channels of this rank lie in the lists of a topology.
  struct OwnChannels {
    std::uint64_t first = 0, num = 0;
  };

  void write_channels(const std::vector<schedule::Topology>& topologies);
  std::vector<result::PlacedBytes> pieces_of(const Cell& cell, const CellRow& row) const;
  bool has_shape(const Cell& cell, const CellRow& row) const;

  std::vector<Cell> cells_;
  std::vector<OwnChannels> own_;  ///< by topology
};

}  // namespace leadline::bench::topology
