// SPDX-License-Identifier: Apache-2.0
// Validity warnings of a link test: a pure function of how it was run.
#pragma once

#include <vector>

#include "bench/link/result.hpp"
#include "bench/validity_warnings.hpp"

namespace leadline::bench::link {

/// Findings, most serious first; `slices` may be empty. `num_participants`: ranks that take part in the rounds.
std::vector<Finding> validity_warnings(const Conditions& conditions, int num_participants,
                                       const std::vector<SliceSummary>& slices);

}  // namespace leadline::bench::link
