// SPDX-License-Identifier: Apache-2.0
// Which of many surprises to believe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace leadline::stats {

/// Benjamini and Hochberg 1995: which of `num_tests` hypotheses may be rejected so that the expected share of false
/// ones among them is at most `rate`. `p_values` are those of the tests that might be (all others count as 1), in any
/// order; num_tests >= p_values.size(). True at the place of each that may.
std::vector<bool> rejected(std::span<const double> p_values, std::uint64_t num_tests, double rate);

}  // namespace leadline::stats
