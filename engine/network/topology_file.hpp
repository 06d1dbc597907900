// SPDX-License-Identifier: Apache-2.0
// Networks from files (docs/formats/topology.md): which kind of file it is follows from what is in it.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"

namespace leadline::network {

/// Slurm's topology.conf, the output of ibnetdiscover, or a list of cables. Throws Error(bad_command_line) that names
/// the file and, where there is one, the line.
Network read_topology(const std::string& path);

/// The same of a text that is there already; `file` is for messages and the network's source.
Network parse_topology(const std::string& file, std::string_view text);

}  // namespace leadline::network
