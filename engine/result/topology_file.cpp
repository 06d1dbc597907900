// SPDX-License-Identifier: Apache-2.0
// Picks the kind of file of a topology test.
#include "result/topology_file.hpp"

#include <utility>

#include "core/error.hpp"
#include "result/topology/hdf5_store.hpp"
#include "result/topology/json.hpp"

namespace leadline::result {

namespace {

class NoTopologyFile final : public NoFile<TopologyFile, TopologyResult> {
 public:
  void write(std::size_t, const bench::topology::CellRow&, const CellSummary&) override {}
  void write(std::size_t, const LoadPoint&) override {}
};

}  // namespace

std::unique_ptr<TopologyFile> open_topology_file(cluster::Cluster& cluster, const TopologyResult& so_far,
                                                 TopologyFileSetup setup) {
  switch (setup.format) {
    case ResultFormat::hdf5:
      return std::make_unique<topology::Hdf5Store>(cluster, so_far, std::move(setup));
    case ResultFormat::json:
      return std::make_unique<topology::JsonStore>(cluster, so_far, setup);
    case ResultFormat::sion:
      throw Error(ExitStatus::bad_command_line, "a topology test cannot be kept as SION",
                  "it holds LinkTest's record, which is one of pairs", "Choose a name ending in .h5 or .json");
    case ResultFormat::none:
      break;
  }
  return std::make_unique<NoTopologyFile>();
}

}  // namespace leadline::result
