// SPDX-License-Identifier: Apache-2.0
// Closed-form cases of summaries, quantiles and the interval of a median.
#include "stats/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace leadline::stats {
namespace {

TEST(summarize, nothing_is_nan_and_never_zero) {
  const Summary summary = summarize({});
  EXPECT_EQ(summary.count, 0u);
  for (const double value : {summary.min, summary.median, summary.mean, summary.p99, summary.p999, summary.max}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(summarize, one_value_is_everything) {
  std::vector<double> values{42.5};
  const Summary summary = summarize(values);
  EXPECT_EQ(summary.count, 1u);
  for (const double value : {summary.min, summary.median, summary.mean, summary.p99, summary.p999, summary.max}) {
    EXPECT_EQ(value, 42.5);
  }
}

TEST(summarize, equal_values_have_no_spread_not_even_from_rounding) {
  for (const double same : {0.1, 1e-300, 123456.7, 1e15 / 3}) {
    std::vector<double> values(7, same);
    const Summary summary = summarize(values);
    EXPECT_EQ(summary.count, 7u);
    for (const double value : {summary.min, summary.median, summary.mean, summary.p99, summary.p999, summary.max}) {
      EXPECT_EQ(value, same);
    }
  }
}

TEST(summarize, sorts_and_summarizes) {
  std::vector<double> values{4, 1, 3, 10};
  const Summary summary = summarize(values);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(summary.count, 4u);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.median, 3.5);
  EXPECT_EQ(summary.mean, 4.5);
  EXPECT_DOUBLE_EQ(summary.p99, 9.82);    // position 2.97: 4 + 0.97 * 6
  EXPECT_DOUBLE_EQ(summary.p999, 9.982);  // position 2.997
  EXPECT_EQ(summary.max, 10);
}

TEST(quantile, position_is_that_of_type_7) {
  const QuantilePosition position = quantile_position(10, 0.25);
  EXPECT_EQ(position.low, 2u);
  EXPECT_EQ(position.high, 3u);
  EXPECT_DOUBLE_EQ(position.fraction, 0.25);
}

TEST(quantile, ends_are_the_extremes) {
  for (std::uint64_t n = 1; n <= 20; ++n) {
    EXPECT_EQ(quantile_position(n, 0).low, 0u);
    EXPECT_EQ(quantile_position(n, 0).fraction, 0);
    EXPECT_EQ(quantile_position(n, 1).low, n - 1);
    EXPECT_EQ(quantile_position(n, 1).high, n - 1);
    EXPECT_EQ(quantile_position(n, 1).fraction, 0);
  }
}

// By hand: position (n-1) q, linear between neighbours; numpy.quantile gives the same.
TEST(quantile, hand_computed_values) {
  const std::vector<double> five{15, 20, 35, 40, 50};
  EXPECT_DOUBLE_EQ(quantile_of_sorted(five, 0.05), 16);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(five, 0.30), 23);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(five, 0.40), 29);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(five, 0.50), 35);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(five, 0.75), 40);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(five, 0.99), 49.6);
  const std::vector<double> two{1, 2};
  EXPECT_DOUBLE_EQ(quantile_of_sorted(two, 0.1), 1.1);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(two, 0.9), 1.9);
}

TEST(quantile, of_nothing_is_nan) { EXPECT_TRUE(std::isnan(quantile_of_sorted({}, 0.5))); }

TEST(quantile, never_leaves_its_neighbours_and_never_falls) {
  const std::vector<double> values{0.1, 0.1, 0.3, 1e9, 1e9 + 1};
  double previous = values.front();
  for (int i = 0; i <= 1000; ++i) {
    const double value = quantile_of_sorted(values, i / 1000.0);
    EXPECT_GE(value, previous);
    EXPECT_LE(value, values.back());
    previous = value;
  }
}

// From the binomial distribution, computed with exact fractions: coverage is 1 - 2 P(B(n, 1/2) <= low).
// n = 10: 1 - 2 * 11/1024 = 0.9785.
TEST(median_interval, binomial_values_at_95_percent) {
  constexpr std::uint64_t low_of[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5};
  for (std::uint64_t n = 1; n <= 20; ++n) {
    const OrderInterval interval = median_interval(n);
    EXPECT_EQ(interval.low, low_of[n]) << n;
    EXPECT_EQ(interval.high, n - 1 - low_of[n]) << n;
  }
}

TEST(median_interval, the_coverage_of_ten_values_is_97_85_percent) {
  EXPECT_EQ(median_interval(10, 0.978).low, 1u);
  EXPECT_EQ(median_interval(10, 0.979).low, 0u);
}

TEST(median_interval, is_right_on_both_sides_of_the_approximation) {
  EXPECT_EQ(median_interval(1000).low, 468u);
  EXPECT_EQ(median_interval(2001).low, 956u);
  EXPECT_EQ(median_interval(1500).low, 711u);
  EXPECT_EQ(median_interval(10000).low, 4901u);
  EXPECT_EQ(median_interval(1000, 0.99).low, 458u);
  EXPECT_EQ(median_interval(2001, 0.99).low, 942u);
}

TEST(median_interval, of_nothing_and_of_extreme_confidence) {
  EXPECT_EQ(median_interval(0).low, 0u);
  EXPECT_EQ(median_interval(0).high, 0u);
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{11}, std::uint64_t{5000}}) {
    EXPECT_EQ(median_interval(n, 1).low, 0u);
    EXPECT_EQ(median_interval(n, 1).high, n - 1);
    EXPECT_EQ(median_interval(n, 0).low, (n - 1) / 2);
    EXPECT_EQ(median_interval(n, 0).high, n / 2);
  }
}

}  // namespace
}  // namespace leadline::stats
