// SPDX-License-Identifier: Apache-2.0
// The result of a topology test in HDF5: rank 0 makes the file, every rank writes its pieces into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "result/hdf5/run_file.hpp"
#include "result/topology/hdf5_file.hpp"
#include "result/topology_file.hpp"

namespace leadline::result::topology {

class Hdf5Store : public TopologyFile {
 public:
  /// Collective; see open_topology_file.
  Hdf5Store(cluster::Cluster& cluster, const TopologyResult& so_far, TopologyFileSetup setup);

  void write(std::size_t index, const bench::topology::CellRow& row, const CellSummary& summary) override;
  void write(const LoadPoint& point) override;
  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const TopologyResult& result) override;

  /// Whether each rank writes its own pieces.
  bool is_direct() const { return file_.is_direct(); }

 private:
  /// Where the channels of this rank lie in the lists of a topology.
  struct OwnChannels {
    std::uint64_t first = 0, num = 0;
  };

  void write_channels(const std::vector<schedule::Topology>& topologies);
  std::vector<PlacedBytes> pieces_of(const Cell& cell, const bench::topology::CellRow& row,
                                     const std::vector<double>& own_times) const;
  bool has_shape(const Cell& cell, const bench::topology::CellRow& row) const;

  cluster::Cluster& cluster_;
  Header header_;
  std::vector<Cell> cells_;
  Offsets offsets_;  ///< run and load on rank 0 only
  RunFile file_;
  std::vector<OwnChannels> own_;  ///< by topology
  std::size_t num_load_points_ = 0;
};

}  // namespace leadline::result::topology
