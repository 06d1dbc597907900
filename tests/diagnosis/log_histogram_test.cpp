// SPDX-License-Identifier: Apache-2.0
// Quantiles and spreads of counted logarithms against those of the sorted values.
#include "diagnosis/log_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.hpp"

namespace leadline::diagnosis {
namespace {

constexpr double a_bin = 1.0 / 1024;

/// About normal with this standard deviation, around 7.
std::vector<float> scattered(std::size_t num, double deviation) {
  Random random(1);
  std::vector<float> values;
  for (std::size_t index = 0; index < num; ++index) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    values.push_back(static_cast<float>(7 + deviation * radius * std::cos(angle)));
  }
  return values;
}

LogHistogram counted(const std::vector<float>& values) {
  LogHistogram histogram;
  for (const float value : values) histogram.add(value);
  return histogram;
}

TEST(log_histogram, has_the_quantiles_of_the_sorted_values) {
  auto values = scattered(20'001, 0.3);
  const LogHistogram histogram = counted(values);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.num(), values.size());
  for (const double q : {0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999}) {
    const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
    // In the bin of the order statistic, or where bins are thinly held in that of a neighbour.
    EXPECT_GE(histogram.quantile(q), static_cast<double>(values[at - 1]) - a_bin) << q;
    EXPECT_LE(histogram.quantile(q), static_cast<double>(values[at + 1]) + a_bin) << q;
  }
}

TEST(log_histogram, spreads_values_evenly_within_a_bin) {
  LogHistogram histogram;
  for (int index = 0; index < 10; ++index) histogram.add(4);  // where a bin begins
  EXPECT_NEAR(histogram.quantile(0.5), 4 + 0.5 * a_bin, 1e-12);
  EXPECT_NEAR(histogram.quantile(1), 4 + a_bin, 1e-12);
  EXPECT_NEAR(histogram.spread(), 1.4826 * 0.5 * a_bin, 1e-12) << "no value is known better than its bin";
}

TEST(log_histogram, has_the_spread_of_a_normal_distribution) {
  for (const double deviation : {0.02, 0.3}) {
    EXPECT_NEAR(counted(scattered(50'000, deviation)).spread(), deviation, 0.02 * deviation + 2 * a_bin);
  }
}

TEST(log_histogram, the_spread_of_residuals_leaves_out_what_the_fit_makes_0) {
  LogHistogram histogram;
  for (int count = 0; count < 40; ++count) histogram.add(0);
  for (int count = 0; count < 30; ++count) {
    histogram.add(0.01F * static_cast<float>(count));
    histogram.add(-0.01F * static_cast<float>(count));
  }
  EXPECT_NEAR(histogram.spread(), 1.4826 * 0.045, 1.4826 * 0.01);
  EXPECT_NEAR(histogram.spread(40), 1.4826 * 0.15, 1.4826 * 0.01);
}

TEST(log_histogram, a_few_wild_values_leave_median_and_spread_alone) {
  auto values = scattered(10'000, 0.1);
  const LogHistogram calm = counted(values);
  values.resize(10'500, 25);
  const LogHistogram wild = counted(values);
  EXPECT_NEAR(wild.quantile(0.5), calm.quantile(0.5), 0.01);
  EXPECT_NEAR(wild.spread(), calm.spread(), 0.02);
}

TEST(log_histogram, without_values_knows_nothing) {
  const LogHistogram empty;
  EXPECT_EQ(empty.num(), 0U);
  EXPECT_TRUE(std::isnan(empty.quantile(0.5)));
  EXPECT_TRUE(std::isnan(empty.spread()));
  EXPECT_EQ(empty.num_from(0), 0U);
}

TEST(log_histogram, counts_what_lies_outside_at_the_end) {
  const LogHistogram histogram = counted({-100, 100, 100});
  EXPECT_EQ(histogram.num(), 3U);
  EXPECT_NEAR(histogram.quantile(0.1), LogHistogram::lowest, a_bin);
  EXPECT_NEAR(histogram.quantile(0.9), LogHistogram::highest, a_bin);
  EXPECT_EQ(histogram.num_from(31), 2U);
  EXPECT_EQ(histogram.num_from(-50), 3U);
}

TEST(log_histogram, has_all_bins_where_they_are_asked_for) {
  LogHistogram histogram = counted({-100, 1, 7, 100});
  histogram.add(counted({1, 31}));
  histogram.add(LogHistogram());
  ASSERT_EQ(histogram.all_counts().size(), LogHistogram::num_bins);
  EXPECT_EQ(histogram.first_bin(), 0U);
  EXPECT_EQ(histogram.all_counts()[static_cast<std::size_t>((1 - LogHistogram::lowest) / a_bin)], 2U);
  EXPECT_EQ(histogram.num(), 6U);
  EXPECT_EQ(histogram.num_from(31), 2U);
}

TEST(log_histogram, counts_values_from_a_limit_on) {
  const LogHistogram histogram = counted({1, 2, 3, 4});
  EXPECT_EQ(histogram.num_from(2.5), 2U);
  EXPECT_EQ(histogram.num_from(2), 3U);
  EXPECT_EQ(histogram.num_from(4.1), 0U);
}

}  // namespace
}  // namespace leadline::diagnosis
