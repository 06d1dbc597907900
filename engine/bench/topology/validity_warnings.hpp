// SPDX-License-Identifier: Apache-2.0
// Validity warnings of a topology test: a pure function of how it was run.
#pragma once

#include <vector>

#include "bench/validity_warnings.hpp"
#include "model/topology_result.hpp"

namespace leadline::bench::topology {

/// Findings, most serious first; judges the clock by the fastest exchange of `result`.
std::vector<Finding> validity_warnings(const Conditions& conditions, const TopologyResult& result);

}  // namespace leadline::bench::topology
