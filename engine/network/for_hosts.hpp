// SPDX-License-Identifier: Apache-2.0
// The part of a network that a run uses.
#pragma once

#include <string>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// The network of exactly these hosts, in this order and by these names; groups without any are gone, and those that
/// are left keep their order. A host is found by its name, else by the name up to the first dot where that is unique
/// among `names` and in the network. Hosts without names (a formula's) are taken in order. Throws
/// Error(bad_command_line) that names some of those that the network lacks.
Network for_hosts(const Network& network, const std::vector<std::string>& names);

}  // namespace leadline::network
