// SPDX-License-Identifier: Apache-2.0
// What a user names behind --topology, for the hosts of a run.
#pragma once

#include <string>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// The network of exactly `hosts` in their order. `word` is a formula ("fat-tree:32x16"), "pattern:REGEX" or the name
/// of a file. Throws Error(bad_command_line) that says what is wrong with the word, the file, or its hosts.
Network parse_network(const std::string& word, const std::vector<std::string>& hosts);

}  // namespace leadline::network
