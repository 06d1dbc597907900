// SPDX-License-Identifier: Apache-2.0
// Networks as a list of cables, as those of `leadline simulate bisection` (docs/how-to/simulate-a-bisection.md).
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"

namespace leadline::network {

/// A cable a line: two nodes, and a capacity that nothing here depends on. Hosts are the nodes with one cable, or those
/// that lines "hosts: ..." name. Throws Error(bad_command_line) that names file and line.
Network parse_edge_topology(const std::string& file, std::string_view text);

}  // namespace leadline::network
