// SPDX-License-Identifier: Apache-2.0
// The file of a topology test from before its first message to its end: one interface for HDF5, JSON and no file at
// all.
#pragma once

#include <memory>
#include <vector>

#include "bench/topology/output.hpp"
#include "bench/topology/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

using TopologyFile = result::ResultFile<CellStore, TopologyResult>;

struct TopologyFileSetup : result::RunFileSetup {
  std::vector<Cell> cells;                            ///< to come; empty with --duration
  const std::vector<schedule::Topology>& topologies;  ///< outlives the file
};

/// Collective: creates and checks the file before the first message and writes what is known: `so_far` is request,
/// provenance and topologies. Throws on every rank the same Error, as open_link_file does.
std::unique_ptr<TopologyFile> open_topology_file(cluster::Cluster& cluster, const TopologyResult& so_far,
                                                 TopologyFileSetup setup);

}  // namespace leadline::bench::topology
