// SPDX-License-Identifier: Apache-2.0
// Intervals of medians and means, and how surely numbers differ: pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace leadline::stats {

/// Mean and variance of values as they come (Welford 1962).
class RunningMean {
 public:
  void add(double value);

  std::uint64_t num() const { return num_; }
  double mean() const;      ///< NaN without values
  double variance() const;  ///< of a sample (n - 1); NaN below two values

 private:
  std::uint64_t num_ = 0;
  double mean_ = 0, sum_of_squares_ = 0;
};

/// mean - half_width to mean + half_width holds the value behind independent samples with the given confidence.
struct MeanInterval {
  std::uint64_t num = 0;  ///< independent samples
  double mean = std::numeric_limits<double>::quiet_NaN();
  double half_width = std::numeric_limits<double>::quiet_NaN();  ///< NaN below two samples
};

/// By Student's t, with n - 1 degrees of freedom.
MeanInterval mean_interval(const RunningMean& samples, double confidence = 0.95);
MeanInterval mean_interval(std::span<const double> samples, double confidence = 0.95);

/// Two values of one sample, and a third whose expected value is 0.
struct PairedSample {
  double numerator = 0, denominator = 0;
  double control = 0;
};

/// The ratio of the means of both values, which are positive (else NaN). What they have in common cancels out: the
/// variance is that of numerator - ratio * denominator. From 10 samples on, that of the control is taken off, too (the
/// regression estimator with a control variate), which costs a degree of freedom.
MeanInterval paired_ratio_interval(std::span<const PairedSample> samples, double confidence = 0.95);

/// The p-quantile of Student's t with so many degrees of freedom (> 0, need not be whole); 0 < p < 1. Relative error
/// below 1e-9 for 1e-6 < p < 1 - 1e-6 and at least one degree of freedom.
double student_t_quantile(double p, double degrees_of_freedom);

/// The probability that Student's t with so many degrees of freedom (> 0) is `t` or more; 0.5 at 0. Relative error
/// below 1e-10, also far out.
double student_t_tail(double t, double degrees_of_freedom);

/// The probability of `num` successes or more in `num_trials` of probability `p` each, 0 to 1.
double binomial_tail(std::uint64_t num, std::uint64_t num_trials, double p);

/// Benjamini and Hochberg 1995: which of `num_tests` hypotheses may be rejected so that the expected share of false
/// ones among them is at most `rate`. `p_values` are those of the tests that might be (all others count as 1), in any
/// order; num_tests >= p_values.size(). True at the index of each that may.
std::vector<bool> rejected(std::span<const double> p_values, std::uint64_t num_tests, double rate);

}  // namespace leadline::stats
