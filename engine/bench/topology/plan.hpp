// SPDX-License-Identifier: Apache-2.0
// The topology test's plan: a pure function of the request and the rank layout; `--dry-run` prints it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/plan.hpp"
#include "bench/topology/request.hpp"
#include "bench/topology/result.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

struct Estimate {
  CostAssumption assumption;
  std::uint64_t buffer_bytes = 0;  ///< message buffers of the rank that has the largest
  std::uint64_t table_bytes = 0;   ///< everything else that grows with ranks, channels or exchanges, on one rank
  double host_bytes = 0;           ///< both, of those ranks that need most, as many as there are on a host
  std::uint64_t file_bytes = 0;    ///< of the matrices (HDF5)
  double measuring_s = 0;          ///< the busiest rank's messages one behind the other, and barriers; or the duration
};

struct Plan {
  RankLayout rank_layout;
  std::vector<schedule::Topology> topologies;  ///< in the order asked for
  std::vector<Cell> cells;                     ///< of all repeats: repeat, then size, then topology
  Estimate estimate;
};

/// `edges`: the text of request.edges_file, empty where there is none; these come last, under the file's name. Throws
/// Error(bad_command_line) where so many ranks cannot form a topology, and where one is asked for twice, under whatever
/// names.
Plan plan(const TopologyRequest& request, const RankLayout& rank_layout, const std::string& edges);

/// What the result says of the plan's topologies.
std::vector<TopologyFacts> facts_of(const Plan& plan);

/// How many buffers of each kind a rank needs: one where they are shared; one a channel of its busiest topology where
/// bytes are verified; else no more than may be under way at once. None without channels.
std::uint32_t num_slots(const TopologyRequest& request, const Plan& plan, int rank);

/// Throws Error(something_missing) where estimate.host_bytes are not there; the hint names --shared-buffers and
/// --max-outstanding.
void check_memory(const Plan& plan, std::uint64_t available_bytes);

/// As num_slots() says, for a rank with at most so many channels.
std::uint32_t num_slots_for(const TopologyRequest& request, std::int32_t num_channels);

/// Of a plan that has everything else. O(ranks) of memory.
Estimate estimate_of(const TopologyRequest& request, const Plan& plan);

}  // namespace leadline::bench::topology
