// SPDX-License-Identifier: Apache-2.0
// Summaries, quantiles, the interval of a median, and how evenly something is shared. Definitions: docs/metrics.md.
#pragma once

#include <cstdint>
#include <span>

namespace leadline::stats {

struct Summary {
  std::uint32_t count = 0;
  double min = 0, median = 0, mean = 0, p99 = 0, p999 = 0, max = 0;
};

/// Which quantiles are among them.
struct SummaryQuantile {
  double q;
  double Summary::*value;
};
inline constexpr SummaryQuantile summary_quantiles[] = {
    {0.5, &Summary::median}, {0.99, &Summary::p99}, {0.999, &Summary::p999}};

/// Sorts `values` in place; they must be finite. All members NaN but count where there is no value.
Summary summarize(std::span<double> values);

/// Where the q-quantile of n sorted values lies: between the order statistics low and high (0-based), at the given
/// fraction of the way (linear interpolation, Hyndman & Fan type 7, as numpy's default). n >= 1, 0 <= q <= 1.
struct QuantilePosition {
  std::uint64_t low = 0, high = 0;
  double fraction = 0;
};
QuantilePosition quantile_position(std::uint64_t n, double q);

/// q-quantile of values sorted ascending; NaN where there is none.
double quantile_of_sorted(std::span<const double> sorted, double q);

/// Order statistics (0-based) that enclose the median of the population with at least the given confidence
/// (distribution-free, from the binomial distribution; normal approximation above 1000 values). Where n is too
/// small for the confidence, the extremes.
struct OrderInterval {
  std::uint64_t low = 0, high = 0;
};
OrderInterval median_interval(std::uint64_t n, double confidence = 0.95);

/// All that the index needs to know of its values. Plain bytes, so that it may travel between ranks.
struct Fairness {
  std::uint64_t num = 0;
  double sum = 0, sum_of_squares = 0;

  /// A value that is NaN was not measured and does not count. Others are not negative.
  void add(double value);

  /// As if all of the others had been added here.
  void merge(const Fairness& others);

  /// (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984): 1 where all are equal, 1/n where one has everything. Never above
  /// 1, whatever the rounding. NaN where there is no value, or none above 0.
  double index() const;
};

}  // namespace leadline::stats
