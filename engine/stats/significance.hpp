// SPDX-License-Identifier: Apache-2.0
// Tests of significance: Student's t distribution, and which of many hypotheses may be rejected.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace leadline::stats {

/// The p-quantile of Student's t with so many degrees of freedom (> 0, need not be whole); 0 < p < 1. Relative error
/// below 1e-9 for 1e-6 < p < 1 - 1e-6 and at least one degree of freedom.
double student_t_quantile(double p, double degrees_of_freedom);

/// The probability that Student's t with so many degrees of freedom (> 0) is `t` or more; 0.5 at 0. Relative error
/// below 1e-10, also far out.
double student_t_tail(double t, double degrees_of_freedom);

/// The probability of `num` successes or more in `num_trials` of probability `p` each, 0 < p < 1.
double binomial_tail(std::uint64_t num, std::uint64_t num_trials, double p);

/// Benjamini and Hochberg 1995: which of `num_tests` hypotheses may be rejected so that the expected share of false
/// ones among them is at most `rate`. `p_values` are those of the tests that might be (all others count as 1), in any
/// order; num_tests >= p_values.size(). True at the index of each that may.
std::vector<bool> rejected(std::span<const double> p_values, std::uint64_t num_tests, double rate);

}  // namespace leadline::stats
