// SPDX-License-Identifier: Apache-2.0
// False discovery rates against a brute force and the paper's example.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/random.hpp"
#include "stats/interval.hpp"

namespace leadline::stats {
namespace {

/// Word for word: the largest k of which k hypotheses have p <= k / m q, and then those.
std::vector<bool> by_brute_force(const std::vector<double>& p_values, std::uint64_t num_tests, double rate) {
  double limit = -1;
  for (std::size_t k = 1; k <= p_values.size(); ++k) {
    const double at = rate * static_cast<double>(k) / static_cast<double>(num_tests);
    const auto num = std::count_if(p_values.begin(), p_values.end(), [&](double p) { return p <= at; });
    if (static_cast<std::size_t>(num) >= k) limit = at;
  }
  std::vector<bool> is_rejected;
  for (const double p : p_values) is_rejected.push_back(p <= limit);
  return is_rejected;
}

TEST(binomial_tail, of_coins_and_dice) {
  EXPECT_EQ(binomial_tail(0, 7, 0.3), 1);
  EXPECT_EQ(binomial_tail(4, 3, 0.3), 0);
  EXPECT_NEAR(binomial_tail(2, 3, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(binomial_tail(1, 4, 1.0 / 6), 1 - std::pow(5.0 / 6, 4), 1e-12);  // de Mere's first problem
  EXPECT_NEAR(binomial_tail(60, 64, 0.5) / (679'121 / std::pow(2.0, 64)), 1, 1e-9);
}

TEST(false_discoveries, in_the_example_of_the_paper) {
  // Benjamini and Hochberg 1995, section 3.2: of 15 comparisons four may be rejected at a rate of 5 %.
  const std::vector<double> p_values{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                     0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  std::vector<bool> expected(15, false);
  std::fill_n(expected.begin(), 4, true);
  EXPECT_EQ(rejected(p_values, 15, 0.05), expected);

  std::vector<double> turned(p_values.rbegin(), p_values.rend());
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(rejected(turned, 15, 0.05), expected) << "in any order";
}

TEST(false_discoveries, a_later_one_takes_earlier_ones_along) {
  // None of the first two is below its own limit, the third is.
  EXPECT_EQ(rejected(std::vector<double>{0.02, 0.035, 0.045}, 3, 0.05), (std::vector<bool>{true, true, true}));
}

TEST(false_discoveries, are_those_of_a_brute_force) {
  Random random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<double> p_values(random.below(9));
    // Few different values, so that many are equal, and small ones, so that some are rejected.
    for (double& p : p_values) p = static_cast<double>(random.below(8)) / 100;
    const std::uint64_t num_tests = p_values.size() + random.below(5) + 1;
    const double rate = 0.01 * static_cast<double>(1 + random.below(20));
    EXPECT_EQ(rejected(p_values, num_tests, rate), by_brute_force(p_values, num_tests, rate)) << "turn " << turn;
  }
}

TEST(false_discoveries, equal_chances_stand_or_fall_together) {
  EXPECT_EQ(rejected(std::vector<double>{0.03, 0.03, 0.9}, 3, 0.05), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(rejected(std::vector<double>{0.04, 0.04, 0.9}, 3, 0.05), (std::vector<bool>{false, false, false}));
}

TEST(false_discoveries, none_all_and_nothing_to_judge) {
  EXPECT_EQ(rejected(std::vector<double>{0.5, 0.6, 1}, 3, 0.05), std::vector<bool>(3, false));
  EXPECT_EQ(rejected(std::vector<double>{0, 0, 0}, 3, 0.05), std::vector<bool>(3, true));
  EXPECT_TRUE(rejected({}, 0, 0.05).empty());
  EXPECT_TRUE(rejected({}, 10, 0.05).empty());
}

TEST(false_discoveries, tests_that_are_not_listed_count) {
  const std::vector<double> p_values{0.004};
  EXPECT_EQ(rejected(p_values, 1, 0.01), std::vector<bool>{true});
  EXPECT_EQ(rejected(p_values, 2, 0.01), std::vector<bool>{true});
  EXPECT_EQ(rejected(p_values, 3, 0.01), std::vector<bool>{false});
}

}  // namespace
}  // namespace leadline::stats
