// SPDX-License-Identifier: Apache-2.0
// Hosts that make each of their groups slow: a pure function of the times of groups.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/collective/measure.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/request.hpp"
#include "model/result.hpp"

namespace leadline::bench::collective {

/// A good host is fast with somebody. A host is slow in a cell where even the fastest of its groups took more than 1.1
/// times as long as groups usually do (the lower quartile over all groups and rounds), and chance would do that to any
/// host in less than one of a hundred runs: (number of hosts) * (number of cells) * q^k < 1 %, where k is the number of
/// its groups and q the share of all groups that took at least as long as that one. docs/methods/collectives.md.
///
/// One finding a host, about the cell in which it costs most; the slowest first. None without several groups.
/// `name_of_host`: by a rank of the host.
std::vector<Finding> slow_hosts(const CollectiveRequest& request, const Plan& plan, const Measured& measured,
                                const std::function<std::string(std::int32_t rank)>& name_of_host);

}  // namespace leadline::bench::collective
