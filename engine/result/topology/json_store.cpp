// SPDX-License-Identifier: Apache-2.0
// What the documents of a topology test have while it runs.
#include "result/topology/json_store.hpp"

#include <utility>

#include "result/topology/json.hpp"

namespace leadline::result::topology {

JsonStore::JsonStore(cluster::Cluster& cluster, TopologyResult so_far, const TopologyFileSetup& setup)
    : document_(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(std::size_t, const bench::topology::CellRow&, const CellSummary& summary) {
  document_.add([&](TopologyResult& so_far) { so_far.cells.push_back(summary); });
}

void JsonStore::write(const LoadPoint& point) {
  document_.add([&](TopologyResult& so_far) { so_far.load.push_back(point); });
}

}  // namespace leadline::result::topology
