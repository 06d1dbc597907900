// SPDX-License-Identifier: Apache-2.0
// Student's t distribution.
#pragma once

namespace leadline::stats {

/// The p-quantile of Student's t with so many degrees of freedom (> 0, need not be whole); 0 < p < 1. Relative error
/// below 1e-9 for 1e-6 < p < 1 - 1e-6 and at least one degree of freedom.
double student_t_quantile(double p, double degrees_of_freedom);

/// The probability that Student's t with so many degrees of freedom (> 0) is `t` or more; 0.5 at 0. Relative error
/// below 1e-10, also far out.
double student_t_tail(double t, double degrees_of_freedom);

}  // namespace leadline::stats
