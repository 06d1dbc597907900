// SPDX-License-Identifier: Apache-2.0
// Closed-form cases of Jain's fairness index, whole and in parts.
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "stats/summary.hpp"

namespace leadline::stats {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

Fairness of(std::initializer_list<double> values) {
  Fairness fairness;
  for (const double value : values) fairness.add(value);
  return fairness;
}

TEST(fairness, of_none_is_nan) {
  EXPECT_TRUE(std::isnan(Fairness{}.index()));
  EXPECT_TRUE(std::isnan(of({nothing}).index()));
  EXPECT_TRUE(std::isnan(of({0, 0}).index()));
}

TEST(fairness, of_one_or_of_equal_ones_is_one) {
  EXPECT_EQ(of({42.5}).index(), 1);
  EXPECT_DOUBLE_EQ(of({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}).index(), 1);
  EXPECT_LE(of({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}).index(), 1);
}

TEST(fairness, is_the_share_of_those_who_have_something) {
  EXPECT_DOUBLE_EQ(of({7, 0, 0, 0}).index(), 0.25);
  EXPECT_DOUBLE_EQ(of({7, 7, 0, 0}).index(), 0.5);
}

// (1 + 2 + 3)^2 / (3 * (1 + 4 + 9)) = 36 / 42
TEST(fairness, hand_computed_value) { EXPECT_DOUBLE_EQ(of({1, 2, 3}).index(), 6.0 / 7.0); }

TEST(fairness, does_not_depend_on_the_unit) { EXPECT_DOUBLE_EQ(of({1e9, 2e9, 3e9}).index(), of({1, 2, 3}).index()); }

TEST(fairness, of_parts_is_that_of_the_whole) {
  Fairness merged = of({1, 2});
  merged.merge({});
  merged.merge(of({nothing, 4}));
  EXPECT_EQ(merged.num, 3u);
  EXPECT_EQ(merged.index(), of({1, 2, 4}).index());
}

}  // namespace
}  // namespace leadline::stats
