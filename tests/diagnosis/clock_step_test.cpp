// SPDX-License-Identifier: Apache-2.0
// Times that are multiples of one step, and others.
#include "diagnosis/clock_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace leadline::diagnosis::clock_step_test {
namespace {

LogHistogram histogram_of(const std::vector<double>& ns, int times_each = 10) {
  LogHistogram histogram;
  for (const double one : ns) {
    for (int count = 0; count < times_each; ++count) histogram.add(static_cast<float>(std::log(one)));
  }
  return histogram;
}

TEST(clock_step, is_what_all_times_are_multiples_of) {
  const std::vector<LogHistogram> one{histogram_of({1400, 1600, 1800})};
  EXPECT_NEAR(clock_step(one), 200, 1);
  const std::vector<LogHistogram> two{histogram_of({800, 900, 1000}), histogram_of({2100, 2200})};
  EXPECT_NEAR(clock_step(two), 100, 1);
}

TEST(clock_step, shows_in_two_times_with_others_that_are_seldom) {
  LogHistogram times = histogram_of({1400, 1600}, 200);
  const auto add = [&](double ns) { times.add(static_cast<float>(std::log(ns))); };
  add(1200);
  EXPECT_EQ(clock_step(std::vector{times}), 0) << "one may lie there by chance";
  add(3000);
  EXPECT_NEAR(clock_step(std::vector{times}), 200, 1);
  add(1740);
  EXPECT_EQ(clock_step(std::vector{times}), 0) << "no multiple";
}

TEST(clock_step, is_twice_what_medians_of_an_even_number_are_multiples_of) {
  LogHistogram times = histogram_of({1400, 1600}, 40);
  for (int count = 0; count < 9; ++count) times.add(static_cast<float>(std::log(1500)));
  EXPECT_NEAR(clock_step(std::vector{times}), 200, 1);
}

TEST(clock_step, is_none_where_times_are_no_multiples) {
  const std::vector<LogHistogram> apart{histogram_of({1400, 1600, 1850})};
  EXPECT_EQ(clock_step(apart), 0);
}

TEST(clock_step, is_none_where_few_or_many_times_occur) {
  const std::vector<LogHistogram> two_times{histogram_of({1000, 1500})};
  EXPECT_EQ(clock_step(two_times), 0) << "a sound and a slow one";
  std::vector<double> many;
  for (int count = 0; count < 200; ++count) many.push_back(1000 + 5 * count);
  const std::vector<LogHistogram> fine{histogram_of(many)};
  EXPECT_EQ(clock_step(fine), 0);
  EXPECT_EQ(clock_step({}), 0);
}

}  // namespace
}  // namespace leadline::diagnosis::clock_step_test
