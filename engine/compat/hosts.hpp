// SPDX-License-Identifier: Apache-2.0
// Hosts as the old tools list them: by rank.
#pragma once

#include <string>
#include <vector>

#include "model/result.hpp"

namespace leadline::compat {

/// Hosts by rank out of the ranks of each host.
std::vector<std::string> host_of_each_rank(const std::vector<HostRanks>& hosts);

}  // namespace leadline::compat
