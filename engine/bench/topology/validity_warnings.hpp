// SPDX-License-Identifier: Apache-2.0
// Validity warnings of a topology test: a pure function of how it was run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/topology/result.hpp"
#include "bench/validity_warnings.hpp"

namespace leadline::bench::topology {

/// About stalls of a load that took so long, the longest first; nothing where there is none. `who`: "rank 3 on node1".
std::optional<Finding> stalls_finding(std::vector<LoadStall> stalls, double elapsed_s,
                                      const std::vector<TopologyFacts>& topologies,
                                      const std::function<std::string(std::int32_t rank)>& who);

/// Findings, most serious first; judges the clock by the fastest exchange of `result`.
std::vector<Finding> validity_warnings(const Conditions& conditions, const TopologyResult& result);

}  // namespace leadline::bench::topology
