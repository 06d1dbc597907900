// SPDX-License-Identifier: Apache-2.0
// The result of a topology test in HDF5: rank 0 makes the file, every rank writes its pieces into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "result/hdf5/described_tables.hpp"
#include "result/hdf5/run_file.hpp"
#include "result/topology/fields.hpp"
#include "result/topology_file.hpp"

namespace leadline::result::topology {

/// One topology's lists and matrices; bytes from the beginning of the file. The matrices are not there with a load.
struct TopologyOffsets {
  std::uint64_t row_start = 0, partner = 0, starts = 0;
  std::uint64_t arrival_time_ns = 0;
  hdf5::FieldOffsets<bench::topology::CellRow> ranks{};
  std::uint64_t exchange_time_ns = 0, exchange_with_barrier_time_ns = 0;
};

using LoadOffsets = hdf5::FieldOffsets<LoadPoint>;

struct Offsets {
  RunOffsets run;
  std::vector<TopologyOffsets> topologies;
  LoadOffsets load{};
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed).
Offsets create_structure(const std::string& path, const Header& header);

class Hdf5Store : public TopologyFile {
 public:
  /// Collective; see open_topology_file.
  Hdf5Store(cluster::Cluster& cluster, const TopologyResult& so_far, TopologyFileSetup setup);

  void write(std::size_t index, const bench::topology::CellRow& row, const CellSummary& summary) override;
  void write(std::size_t index, const LoadPoint& point) override;
  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const TopologyResult& result) override;

  bool any_rank_can_finish() const override { return is_direct(); }

  /// Whether each rank writes its own pieces.
  bool is_direct() const { return file_.is_direct(); }

 private:
  /// Where the channels of this rank lie in the lists of a topology.
  struct OwnChannels {
    std::uint64_t first = 0, num = 0;
  };

  void write_channels(const std::vector<schedule::Topology>& topologies);
  std::vector<PlacedBytes> pieces_of(const Cell& cell, const bench::topology::CellRow& row) const;
  bool has_shape(const Cell& cell, const bench::topology::CellRow& row) const;

  cluster::Cluster& cluster_;
  Header header_;
  std::vector<Cell> cells_;
  Offsets offsets_;  ///< run on rank 0 only
  RunFile file_;
  std::vector<OwnChannels> own_;  ///< by topology
};

}  // namespace leadline::result::topology
