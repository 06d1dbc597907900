// SPDX-License-Identifier: Apache-2.0
// Switches with cables between them in any shape, and hosts at some of them; what distances follow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

struct SwitchGraph {
  std::vector<std::string> switches;                   ///< names, unique
  std::vector<std::vector<std::uint32_t>> neighbours;  ///< by switch; a cable is in both lists
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> switch_of;  ///< by host
};

/// Levels where all distances are those of a tree: every set of switches within some distance of each other is apart
/// from all other such sets. Else the leaf switches and the hops between them. Throws Error(bad_command_line) that
/// names the file: no hosts, hosts that no cables join, or distances that no memory holds.
Network network_of_graph(const std::string& file, const SwitchGraph& graph);

}  // namespace leadline::network
