// SPDX-License-Identifier: Apache-2.0
// Intervals of means and of ratios.
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

TEST(ratio_interval, of_like_samples_has_the_degrees_of_both) {
  // Both have the relative variance 0.02 / 2 of the mean, so the logarithm's is 0.02, with 1 + 1 degrees of freedom.
  const MeanInterval interval = ratio_interval(running({9, 11}), running({18, 22}));
  EXPECT_EQ(interval.num, 2u);
  EXPECT_EQ(interval.mean, 0.5);
  expect_relative(interval.half_width, 0.5 * 4.302652729749464 * std::sqrt(0.02));
}

TEST(ratio_interval, of_unlike_samples_weighs_degrees_after_welch_and_satterthwaite) {
  // Relative variances of the means: 0.01 with 1 degree of freedom, (55 / 6) / 10 / 5.5^2 with 9.
  const RunningMean few = running({9, 11}), many = running({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const double above = 0.01, below = 55.0 / 60 / 30.25;
  const double degrees = std::pow(above + below, 2) / (above * above / 1 + below * below / 9);
  const double half_width = student_t_quantile(0.975, degrees) * std::sqrt(above + below);
  expect_relative(ratio_interval(few, many).half_width, 10 / 5.5 * half_width);
  expect_relative(ratio_interval(many, few).half_width, 0.55 * half_width);
  EXPECT_EQ(ratio_interval(few, many).num, 2u);
}

TEST(ratio_interval, to_something_exact_is_that_of_the_mean) {
  const std::vector<double> values{9, 11, 10};
  const MeanInterval interval = ratio_interval(running(values), running({4, 4, 4, 4}));
  expect_relative(interval.half_width, mean_interval(values).half_width / 4);
  const MeanInterval exact = ratio_interval(running({3, 3}), running({4, 4}));
  EXPECT_EQ(exact.mean, 0.75);
  EXPECT_EQ(exact.half_width, 0);
}

TEST(ratio_interval, of_nothing_or_one_sample) {
  EXPECT_TRUE(std::isnan(ratio_interval(RunningMean(), running({1, 2})).mean));
  EXPECT_TRUE(std::isnan(ratio_interval(running({1, 2}), RunningMean()).half_width));
  const MeanInterval one = ratio_interval(running({3}), running({5, 7}));
  EXPECT_EQ(one.mean, 0.5);
  EXPECT_EQ(one.num, 1u);
  EXPECT_TRUE(std::isnan(one.half_width));
  EXPECT_TRUE(std::isnan(ratio_interval(running({1, nan}), running({5, 7})).half_width));
  EXPECT_TRUE(std::isnan(ratio_interval(running({1, 2}), running({-1, 1})).mean));
}

}  // namespace
}  // namespace leadline::stats::interval_test
