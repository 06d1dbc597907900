// SPDX-License-Identifier: Apache-2.0
// Slurm's topology.conf (topology/tree), and what `scontrol show topology` prints.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"

namespace leadline::network {

/// One level for each height of switches above the hosts; a switch without any of a height between it and the next one
/// is a group of its own there. Throws Error(bad_command_line) that names file and line for what is no tree.
Network parse_slurm_topology(const std::string& file, std::string_view text);

}  // namespace leadline::network
