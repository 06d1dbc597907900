// SPDX-License-Identifier: Apache-2.0
// Running moments, and the intervals made of them.
#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>

#include "stats/significance.hpp"

namespace leadline::stats {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Of the squared relative error of a mean.
double relative_variance(const RunningMean& samples) {
  return samples.variance() / static_cast<double>(samples.num()) / (samples.mean() * samples.mean());
}

double two_sided_quantile(double confidence, double degrees_of_freedom) {
  return student_t_quantile((1 + confidence) / 2, degrees_of_freedom);
}

}  // namespace

void RunningMean::add(double value) {
  ++num_;
  const double difference = value - mean_;
  mean_ += difference / static_cast<double>(num_);
  sum_of_squares_ += difference * (value - mean_);
}

double RunningMean::mean() const { return num_ == 0 ? nan : mean_; }

double RunningMean::variance() const { return num_ < 2 ? nan : sum_of_squares_ / static_cast<double>(num_ - 1); }

MeanInterval mean_interval(const RunningMean& samples, double confidence) {
  MeanInterval interval{samples.num(), samples.mean(), nan};
  if (samples.num() < 2) return interval;
  const auto num = static_cast<double>(samples.num());
  interval.half_width = two_sided_quantile(confidence, num - 1) * std::sqrt(samples.variance() / num);
  return interval;
}

MeanInterval mean_interval(std::span<const double> samples, double confidence) {
  RunningMean running;
  for (const double value : samples) running.add(value);
  return mean_interval(running, confidence);
}

MeanInterval ratio_interval(const RunningMean& numerator, const RunningMean& denominator, double confidence) {
  MeanInterval interval{std::min(numerator.num(), denominator.num()), nan, nan};
  if (!(numerator.mean() > 0 && denominator.mean() > 0)) return interval;
  interval.mean = numerator.mean() / denominator.mean();
  if (interval.num < 2) return interval;
  const double above = relative_variance(numerator), below = relative_variance(denominator);
  const double variance = above + below;
  if (!(variance > 0)) {
    interval.half_width = variance;  // 0, or NaN
    return interval;
  }
  const double degrees = variance * variance /
                         (above * above / static_cast<double>(numerator.num() - 1) +
                          below * below / static_cast<double>(denominator.num() - 1));
  interval.half_width = interval.mean * two_sided_quantile(confidence, degrees) * std::sqrt(variance);
  return interval;
}

}  // namespace leadline::stats
