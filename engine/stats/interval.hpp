// SPDX-License-Identifier: Apache-2.0
// Intervals of means: what independent samples say about the value behind them. Definitions: docs/metrics.md.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

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

/// The ratio of two means of unrelated samples, both means positive (else NaN): the variance of its logarithm (delta
/// method), degrees of freedom after Welch and Satterthwaite; the half-width is the logarithm's times the ratio. num:
/// the fewer samples.
MeanInterval ratio_interval(const RunningMean& numerator, const RunningMean& denominator, double confidence = 0.95);

}  // namespace leadline::stats
