// SPDX-License-Identifier: Apache-2.0
// Measures the cells of a plan, or loads them for a duration: the one stage that touches the fabric.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/topology/output.hpp"
#include "bench/topology/plan.hpp"
#include "cluster/cluster.hpp"
#include "model/topology_request.hpp"
#include "model/topology_result.hpp"
#include "transport/transport.hpp"

namespace leadline::bench {
class MessageSlots;
}

namespace leadline::bench::topology {

struct Stage {
  const TopologyRequest& request;
  const Plan& plan;
  cluster::Cluster& cluster;
  transport::Transport& transport;
  MessageSlots& slots;  ///< this rank's memory for all messages of the run
  CellStore& store;
  Progress* progress = nullptr;  ///< rank 0 only
};

struct Measured {
  std::vector<CellSummary> cells;  ///< rank 0 only
  std::vector<LoadPoint> load;     ///< rank 0 only
  std::uint64_t verified_bytes = 0;
};

/// Collective. Opens the links first. A wrong byte is agreed on by all ranks after the cell (or the seconds of load) in
/// which it came: AgreedError(run_failed) that names rank, host, sender, exchange, message size and byte; everything
/// measured before is with the store.
Measured measure(const Stage& stage);

}  // namespace leadline::bench::topology
