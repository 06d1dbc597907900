// SPDX-License-Identifier: Apache-2.0
// The result of a topology test as JSON; docs/formats/json.md.
#pragma once

#include <string>

#include "bench/topology/output.hpp"
#include "bench/topology/result.hpp"
#include "core/json.hpp"
#include "result/json_file.hpp"

namespace leadline::bench::topology {

/// A document with a line end. What was not measured is null.
std::string json_text(const TopologyResult& result);

/// The JSON Schema of such documents.
Json schema();

/// The document of a run that fails has the cells, or the load, that were measured until then.
class JsonStore : public result::RunDocument<TopologyFile, TopologyResult> {
 public:
  /// Collective; see open_topology_file.
  JsonStore(cluster::Cluster& cluster, TopologyResult so_far, const TopologyFileSetup& setup);

  void write(std::size_t index, const CellRow& row, const CellSummary& summary) override;
  void write(std::size_t index, const LoadPoint& point) override;
};

}  // namespace leadline::bench::topology
