// SPDX-License-Identifier: Apache-2.0
// Intervals of means and of paired ratios.
#include "stats/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace leadline::stats::interval_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RunningMean running(const std::vector<double>& values) {
  RunningMean result;
  for (const double value : values) result.add(value);
  return result;
}

void expect_relative(double value, double expected, double error = 1e-9) {
  EXPECT_LT(std::abs(value / expected - 1), error) << value << " is not " << expected;
}

TEST(running_mean, of_few_values) {
  EXPECT_EQ(RunningMean().num(), 0u);
  EXPECT_TRUE(std::isnan(RunningMean().mean()));
  EXPECT_TRUE(std::isnan(RunningMean().variance()));
  EXPECT_EQ(running({42.5}).mean(), 42.5);
  EXPECT_TRUE(std::isnan(running({42.5}).variance()));
  EXPECT_EQ(running({1, 3}).mean(), 2);
  EXPECT_EQ(running({1, 3}).variance(), 2);
  EXPECT_DOUBLE_EQ(running({2, 4, 4, 4, 5, 5, 7, 9}).variance(), 32.0 / 7);
}

TEST(running_mean, keeps_its_digits_far_from_zero) {
  const RunningMean far = running({1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16});
  EXPECT_DOUBLE_EQ(far.mean(), 1e9 + 10);
  EXPECT_DOUBLE_EQ(far.variance(), 30);
}

TEST(mean_interval, of_too_few_samples_has_no_width) {
  const MeanInterval none = mean_interval(RunningMean());
  EXPECT_EQ(none.num, 0u);
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_TRUE(std::isnan(none.half_width));
  const MeanInterval one = mean_interval(std::vector{7.0});
  EXPECT_EQ(one.num, 1u);
  EXPECT_EQ(one.mean, 7);
  EXPECT_TRUE(std::isnan(one.half_width));
}

TEST(mean_interval, of_equal_samples_is_a_point) {
  for (const double same : {0.1, 1e-300, 1e15 / 3}) {
    const MeanInterval interval = mean_interval(std::vector(9, same));
    EXPECT_EQ(interval.mean, same);
    EXPECT_EQ(interval.half_width, 0);
  }
}

TEST(mean_interval, is_students) {
  // Deviations 1: two samples have the variance 2, and one degree of freedom, so 12.706 * sqrt(2 / 2).
  const MeanInterval two = mean_interval(std::vector{9.0, 11.0});
  EXPECT_EQ(two.num, 2u);
  EXPECT_EQ(two.mean, 10);
  expect_relative(two.half_width, 12.7062047361747);
  const std::vector<double> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  expect_relative(mean_interval(ten).half_width, 2.262157162798205 * std::sqrt(55.0 / 60));
  expect_relative(mean_interval(ten, 0.9).half_width, 1.833112932656237 * std::sqrt(55.0 / 60));
  expect_relative(mean_interval(running(ten), 0.99).half_width, 3.249835541592126 * std::sqrt(55.0 / 60));
}

TEST(mean_interval, shows_a_sample_that_is_no_number) {
  const MeanInterval interval = mean_interval(std::vector{1.0, nan, 2.0});
  EXPECT_EQ(interval.num, 3u);
  EXPECT_TRUE(std::isnan(interval.mean));
  EXPECT_TRUE(std::isnan(interval.half_width));
}

TEST(paired_ratio_interval, does_not_widen_by_what_both_have_in_common) {
  const MeanInterval same = paired_ratio_interval(std::vector<PairedSample>{{3, 6}, {50, 100}, {0.7, 1.4}});
  EXPECT_EQ(same.num, 3u);
  EXPECT_DOUBLE_EQ(same.mean, 0.5);
  EXPECT_NEAR(same.half_width, 0, 1e-14);
}

TEST(paired_ratio_interval, of_two_samples_is_that_of_their_differences) {
  // 9 - 0.5 * 20 = -1 and 11 - 0.5 * 20 = 1, over 20; one degree of freedom.
  const MeanInterval interval = paired_ratio_interval(std::vector<PairedSample>{{9, 20}, {11, 20}});
  EXPECT_EQ(interval.mean, 0.5);
  expect_relative(interval.half_width, 12.7062047361747 * std::sqrt(2.0 / 2) / 20);
}

TEST(paired_ratio_interval, takes_off_what_the_control_explains) {
  // numerator = 4 + control, but for 0.1, -0.1, -0.1, 0.1, which the controls do not explain.
  std::vector<PairedSample> samples;
  for (int turn = 0; turn < 3; ++turn) {
    samples.insert(samples.end(), {{3.1, 8, -1}, {3.9, 8, 0}, {4.9, 8, 1}, {6.1, 8, 2}});
  }
  const MeanInterval interval = paired_ratio_interval(samples);
  expect_relative(interval.mean, 4.0 / 8);
  expect_relative(interval.half_width, 2.228138851964939 * std::sqrt(0.12 / 10 / 12) / 8);
  const std::vector<PairedSample> few(samples.begin(), samples.begin() + 9);
  expect_relative(paired_ratio_interval(few).mean, (2 * 18.0 + 3.1) / 72);
}

TEST(paired_ratio_interval, of_nothing_or_one_sample) {
  EXPECT_TRUE(std::isnan(paired_ratio_interval({}).mean));
  const MeanInterval one = paired_ratio_interval(std::vector<PairedSample>{{3, 6, 1}});
  EXPECT_EQ(one.mean, 0.5);
  EXPECT_EQ(one.num, 1u);
  EXPECT_TRUE(std::isnan(one.half_width));
  EXPECT_TRUE(std::isnan(paired_ratio_interval(std::vector<PairedSample>{{1, 2}, {nan, 2}}).half_width));
  EXPECT_TRUE(std::isnan(paired_ratio_interval(std::vector<PairedSample>{{1, -2}, {1, 1}}).mean));
}

}  // namespace
}  // namespace leadline::stats::interval_test
