// SPDX-License-Identifier: Apache-2.0
// What a load (--duration) did to the network, as a table.
#pragma once

#include <string>

#include "model/topology_result.hpp"

namespace leadline::output {

/// Per topology and size the chosen rate at the beginning, at its least, in the middle and at the end, and how much was
/// verified. Empty where nothing was loaded.
std::string load_text(const TopologyResult& result);

}  // namespace leadline::output
