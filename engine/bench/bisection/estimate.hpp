// SPDX-License-Identifier: Apache-2.0
// What a bisection test will cost in memory and time, for its plan.
#pragma once

#include "bench/bisection/plan.hpp"

namespace leadline::bench::bisection {

/// Of a plan that has everything else. O(sizes).
Estimate estimate_of(const BisectionRequest& request, const Plan& plan);

}  // namespace leadline::bench::bisection
