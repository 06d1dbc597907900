// SPDX-License-Identifier: Apache-2.0
// Picks the kind of file of a topology test.
#include "bench/topology/file.hpp"

#include <utility>

#include "bench/topology/hdf5_store.hpp"
#include "bench/topology/json.hpp"

namespace leadline::bench::topology {

namespace {

class NoTopologyFile final : public result::NoFile<TopologyFile, TopologyResult> {
 public:
  void write(std::size_t, const CellRow&, const CellSummary&) override {}
  void write(std::size_t, const LoadPoint&) override {}
};

}  // namespace

std::unique_ptr<TopologyFile> open_topology_file(cluster::Cluster& cluster, const TopologyResult& so_far,
                                                 TopologyFileSetup setup) {
  return open_result_file<topology::Hdf5Store, topology::JsonStore, NoTopologyFile>("a topology test", cluster, so_far,
                                                                                    std::move(setup));
}

}  // namespace leadline::bench::topology
