// SPDX-License-Identifier: Apache-2.0
// What makes a bisection test unfit, and what in the cluster is conspicuous: a pure function of its result.
#pragma once

#include <vector>

#include "bench/validity_warnings.hpp"
#include "model/bisection_result.hpp"

namespace leadline::bench::bisection {

/// Findings: slow places and connections first, then what makes the numbers less than they seem.
std::vector<Finding> validity_warnings(const Conditions& conditions, const BisectionResult& result);

}  // namespace leadline::bench::bisection
