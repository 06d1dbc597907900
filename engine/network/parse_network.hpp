// SPDX-License-Identifier: Apache-2.0
// The physical network that a user names with --topology: a formula, a pattern of host names, or a file
// (docs/formats/topology.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// The network of exactly `hosts` in their order. `word` is a formula ("fat-tree:32x16"), "pattern:REGEX" or the name
/// of a file. Throws Error(bad_command_line) that says what is wrong with the word, the file, or its hosts.
Network parse_network(const std::string& word, const std::vector<std::string>& hosts);

/// Slurm's topology.conf, the output of ibnetdiscover, or a list of cables. Throws Error(bad_command_line) that names
/// the file and, where there is one, the line.
Network read_topology(const std::string& path);

/// The same of a text that is there already; `file` is for messages and the network's source.
Network parse_topology(const std::string& file, std::string_view text);

}  // namespace leadline::network
