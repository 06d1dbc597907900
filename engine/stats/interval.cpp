// SPDX-License-Identifier: Apache-2.0
// Intervals by order statistics and by Student, and the distributions that tests need.
#include "stats/interval.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace leadline::stats {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

MeanInterval paired_ratio_interval(std::span<const PairedSample> samples, double confidence) {
  constexpr std::size_t fewest_controlled = 10;  // of fewer the slope is chance, where samples have heavy tails
  RunningMean above, below, controls;
  for (const PairedSample& one : samples) {
    above.add(one.numerator);
    below.add(one.denominator);
    controls.add(one.control);
  }
  MeanInterval interval{samples.size(), nan, nan};
  if (!(above.mean() > 0 && below.mean() > 0)) return interval;
  const double plain = above.mean() / below.mean();
  double slope = 0, degrees = static_cast<double>(samples.size()) - 1;
  if (samples.size() >= fewest_controlled && controls.variance() > 0) {
    double products = 0;
    for (const PairedSample& one : samples) {
      products += (one.numerator - plain * one.denominator) * (one.control - controls.mean());
    }
    slope = products / (degrees * controls.variance());
    degrees -= 1;
  }
  interval.mean = plain - slope * controls.mean() / below.mean();
  if (samples.size() < 2) return interval;
  double squares = 0;
  for (const PairedSample& one : samples) {
    const double rest = one.numerator - plain * one.denominator - slope * (one.control - controls.mean());
    squares += rest * rest;
  }
  const auto num = static_cast<double>(samples.size());
  interval.half_width = two_sided_quantile(confidence, degrees) * std::sqrt(squares / degrees / num) / below.mean();
  return interval;
}

namespace {

/// gamma(a + 1/2) / gamma(a), by recurrence up to where the asymptotic series is exact to rounding.
double half_step_of_gamma(double a) {
  double factor = 1;
  for (; a < 20; a += 1) factor *= a / (a + 0.5);
  const double inverse = 1 / (a * a);
  const double series = 1.0 / 8 - inverse * (1.0 / 192 - inverse * (1.0 / 640 - inverse * (17.0 / 14336)));
  return factor * std::sqrt(a) * std::exp(-series / a);
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by the modified Lentz method.
double beta_fraction(double a, double b, double x) {
  constexpr int max_terms = 10000;
  constexpr double tiny = 1e-300;
  const auto or_tiny = [](double factor) { return std::abs(factor) < tiny ? tiny : factor; };
  double forward = 1, backward = 0, value = 1;
  for (int term = 1; term < max_terms; ++term) {
    const int half = term / 2;
    const double m = half;
    const double coefficient = term % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                             : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    backward = 1 / or_tiny(1 + coefficient * backward);
    forward = or_tiny(1 + coefficient / forward);
    value *= forward * backward;
    if (std::abs(forward * backward - 1) < 1e-15) break;
  }
  return 1 / value;
}

/// Student's t of so many degrees of freedom, for t >= 0.
class Student {
 public:
  explicit Student(double degrees) : degrees_(degrees), scale_(half_step_of_gamma(degrees / 2)) {}

  /// Of the distribution, beyond t.
  double tail(double t) const { return t < 2 ? 0.5 - central(t) : above(t); }

  /// Whether more than `tail` of the distribution lies above t.
  bool has_above(double t, double tail) const {
    // Each form where its fraction ends soon and its digits are its own; so many degrees blur the second one.
    if (t < 2 || degrees_ > 1e6) return 0.5 - tail > central(t);
    return above(t) > tail;
  }

 private:
  double weight(double t) const {
    const double ratio = t * t / degrees_;
    return scale_ * std::sqrt(std::numbers::inv_pi * ratio / (1 + ratio)) * std::exp(-degrees_ / 2 * std::log1p(ratio));
  }
  /// Between 0 and t.
  double central(double t) const { return weight(t) * beta_fraction(0.5, degrees_ / 2, t * t / (degrees_ + t * t)); }
  double above(double t) const {
    return weight(t) / degrees_ * beta_fraction(degrees_ / 2, 0.5, degrees_ / (degrees_ + t * t));
  }

  double degrees_, scale_;
};

}  // namespace

std::vector<bool> rejected(std::span<const double> p_values, std::uint64_t num_tests, double rate) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::size_t num_rejected = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const double limit = rate * static_cast<double>(place + 1) / static_cast<double>(num_tests);
    if (p_values[order[place]] <= limit) num_rejected = place + 1;
  }
  std::vector<bool> is_rejected(p_values.size(), false);
  for (std::size_t place = 0; place < num_rejected; ++place) is_rejected[order[place]] = true;
  return is_rejected;
}

double student_t_quantile(double p, double degrees_of_freedom) {
  assert(p > 0 && p < 1 && degrees_of_freedom > 0);
  if (p == 0.5) return 0;
  const double tail = std::min(p, 1 - p);
  const Student student(degrees_of_freedom);
  double high = 1;
  while (student.has_above(high, tail)) high *= 2;
  while (!student.has_above(high / 2, tail)) high /= 2;
  double low = high / 2;
  for (int i = 0; i < 53; ++i) {
    const double middle = (low + high) / 2;
    (student.has_above(middle, tail) ? low : high) = middle;
  }
  return p < 0.5 ? -low : low;
}

double student_t_tail(double t, double degrees_of_freedom) {
  if (std::isnan(t)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const double beyond = Student(degrees_of_freedom).tail(std::abs(t));
  return t >= 0 ? beyond : 1 - beyond;
}

double binomial_tail(std::uint64_t num, std::uint64_t num_trials, double p) {
  if (num == 0 || (p >= 1 && num <= num_trials)) return 1;
  const auto n = static_cast<double>(num_trials);
  double sum = 0;
  for (std::uint64_t successes = num; successes <= num_trials; ++successes) {
    const auto k = static_cast<double>(successes);
    const double log_ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    sum += std::exp(log_ways + k * std::log(p) + (n - k) * std::log1p(-p));
  }
  return std::min(sum, 1.0);
}

}  // namespace leadline::stats
