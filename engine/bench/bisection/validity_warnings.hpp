// SPDX-License-Identifier: Apache-2.0
// Validity warnings of a bisection test, and findings about the cluster: a pure function of its result.
#pragma once

#include <optional>
#include <vector>

#include "bench/bisection/plan.hpp"
#include "bench/bisection/result.hpp"
#include "bench/validity_warnings.hpp"

namespace leadline::bench::bisection {

/// Findings: slow components and connections first, then what makes the numbers less than they seem.
std::vector<Finding> validity_warnings(const Conditions& conditions, const BisectionResult& result);

/// Over a transport with streams in step: what that makes of one-way patterns; nothing where there are none.
std::optional<Finding> one_way_in_step(const Plan& plan);

}  // namespace leadline::bench::bisection
