// SPDX-License-Identifier: Apache-2.0
// A network as bytes, for the ranks that have not read it.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"

namespace leadline::network {

/// Source, levels and hops. Names of hosts and groups stay behind: whoever gets it knows how many there are.
std::string packed(const Network& network);

/// What packed() made.
Network unpacked(std::string_view text);

}  // namespace leadline::network
