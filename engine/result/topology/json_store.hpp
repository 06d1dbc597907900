// SPDX-License-Identifier: Apache-2.0
// The result of a topology test as one JSON document: the summary without the matrices.
#pragma once

#include <mutex>
#include <string>

#include "result/json_file.hpp"
#include "result/topology_file.hpp"

namespace leadline::result::topology {

/// The document of a run that fails has the cells, or the load, that were measured until then.
class JsonStore : public TopologyFile {
 public:
  /// Collective; see open_topology_file.
  JsonStore(cluster::Cluster& cluster, TopologyResult so_far, const TopologyFileSetup& setup);

  void write(std::size_t index, const bench::topology::CellRow& row, const CellSummary& summary) override;
  void write(const LoadPoint& point) override;
  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const TopologyResult& result) override;

 private:
  std::string incomplete(const std::string& reason);

  bool is_rank_0_;
  std::mutex mutex_;  ///< between the measuring thread and a failure that the watch reports
  TopologyResult so_far_;
  JsonFile file_;
};

}  // namespace leadline::result::topology
