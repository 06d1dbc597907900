// SPDX-License-Identifier: Apache-2.0
// Validity warnings of a bisection test, and findings about the cluster: a pure function of its result.
#pragma once

#include <vector>

#include "bench/validity_warnings.hpp"
#include "model/bisection_result.hpp"

namespace leadline::bench::bisection {

/// Findings: slow components and connections first, then what makes the numbers less than they seem.
std::vector<Finding> validity_warnings(const Conditions& conditions, const BisectionResult& result);

}  // namespace leadline::bench::bisection
