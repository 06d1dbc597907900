// SPDX-License-Identifier: Apache-2.0
// Computes summaries, quantiles and the interval of a median.
#include "stats/summary.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace leadline::stats {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Above it the normal approximation is as good as exact, and 2^-n would soon be no double any more.
constexpr std::uint64_t max_exact_n = 1000;

/// As distances from the minimum: the mean of equal values is that value, and large offsets cost no digits.
double mean_of_sorted(std::span<const double> sorted) {
  double sum = 0;
  for (const double value : sorted) sum += value - sorted.front();
  return sorted.front() + sum / static_cast<double>(sorted.size());
}

/// Largest k with P(Binomial(n, 1/2) <= k) <= tail, or -1.
std::int64_t binomial_below(std::uint64_t n, double tail) {
  double probability = std::ldexp(1.0, -static_cast<int>(n));
  double cumulative = 0;
  std::int64_t k = -1;
  for (std::uint64_t i = 0; i <= n; ++i) {
    cumulative += probability;
    if (cumulative > tail) break;
    k = static_cast<std::int64_t>(i);
    probability *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return k;
}

/// z with P(Normal > z) = tail, for 0 < tail < 1; by bisection, which needs no table of coefficients.
double normal_above(double tail) {
  double low = -40, high = 40;
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    const bool is_below = std::erfc(middle / std::sqrt(2.0)) / 2 > tail;
    (is_below ? low : high) = middle;
  }
  return low;
}

/// The same as binomial_below, by the normal distribution with the correction for whole numbers.
std::int64_t normal_below(std::uint64_t n, double tail) {
  if (tail <= 0) return -1;
  const double mean = static_cast<double>(n) / 2;
  const double deviation = std::sqrt(static_cast<double>(n)) / 2;
  return static_cast<std::int64_t>(std::floor(mean - 0.5 - normal_above(tail) * deviation));
}

}  // namespace

Summary summarize(std::span<double> values) {
  Summary summary;
  summary.count = static_cast<std::uint32_t>(values.size());
  if (values.empty()) {
    summary.min = summary.mean = summary.max = no_value;
    for (const auto& [q, value] : summary_quantiles) summary.*value = no_value;
    return summary;
  }
  std::sort(values.begin(), values.end());
  summary.min = values.front();
  summary.mean = mean_of_sorted(values);
  for (const auto& [q, value] : summary_quantiles) summary.*value = quantile_of_sorted(values, q);
  summary.max = values.back();
  return summary;
}

QuantilePosition quantile_position(std::uint64_t n, double q) {
  assert(n >= 1 && q >= 0 && q <= 1);
  const double position = static_cast<double>(n - 1) * q;
  QuantilePosition result;
  result.low = std::min(n - 1, static_cast<std::uint64_t>(position));
  result.high = std::min(n - 1, result.low + 1);
  result.fraction = position - static_cast<double>(result.low);
  return result;
}

double quantile_of_sorted(std::span<const double> sorted, double q) {
  if (sorted.empty()) return no_value;
  const QuantilePosition position = quantile_position(sorted.size(), q);
  const double low = sorted[position.low], high = sorted[position.high];
  // From the nearer end, as numpy does: the analysis package gets the same bits.
  if (position.fraction < 0.5) return low + (high - low) * position.fraction;
  return high - (high - low) * (1 - position.fraction);
}

OrderInterval median_interval(std::uint64_t n, double confidence) {
  if (n == 0) return {};
  // The median is missed below the interval if at most `low` values lie under it, and likewise above.
  const double tail = (1 - std::clamp(confidence, 0.0, 1.0)) / 2;
  const std::int64_t below = n <= max_exact_n ? binomial_below(n, tail) : normal_below(n, tail);
  const std::uint64_t low = std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(below, 0)), (n - 1) / 2);
  return {low, n - 1 - low};
}

void Fairness::add(double value) {
  if (std::isnan(value)) return;
  ++num;
  sum += value;
  sum_of_squares += value * value;
}

void Fairness::merge(const Fairness& others) {
  num += others.num;
  sum += others.sum;
  sum_of_squares += others.sum_of_squares;
}

double Fairness::index() const {
  if (num == 0 || sum_of_squares == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::min(1.0, sum * sum / (static_cast<double>(num) * sum_of_squares));
}

}  // namespace leadline::stats
