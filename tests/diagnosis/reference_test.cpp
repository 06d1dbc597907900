// SPDX-License-Identifier: Apache-2.0
// What sound components have in common, and how two slow ends compose.
#include "diagnosis/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "diagnosis/effects.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis::reference_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
constexpr double noise = 0.005;

/// Sums of twelve even numbers, as good as normally distributed.
std::vector<double> scattered(std::size_t num, double centre, double deviation, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t index = 0; index < num; ++index) {
    double sum = -6;
    for (int part = 0; part < 12; ++part) sum += random.uniform();
    values.push_back(centre + deviation * sum);
  }
  return values;
}

std::vector<double> both(std::vector<double> one, const std::vector<double>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

TEST(lowest_cluster, is_everything_that_scatters_around_one_centre) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Reference found = lowest_cluster(scattered(64, 1, 0.03, seed), noise);
    EXPECT_EQ(found.cut, endless) << seed;
    EXPECT_NEAR(found.middle.median, 1, 0.02) << seed;
    EXPECT_EQ(found.middle.num, 64U);
  }
}

TEST(lowest_cluster, is_found_though_most_are_slow) {
  for (const std::size_t num_slow : {1U, 8U, 14U, 16U, 20U, 26U}) {
    const auto values = both(scattered(32 - num_slow, 0, 0.01, num_slow), scattered(num_slow, std::log(2), 0.1, 7));
    const Reference found = lowest_cluster(values, noise);
    EXPECT_EQ(found.middle.num, 32 - num_slow);
    EXPECT_NEAR(found.middle.median, 0, 0.01) << num_slow;
    EXPECT_GT(found.cut, 0.03);
    EXPECT_LT(found.cut, 0.6);
  }
}

TEST(lowest_cluster, is_found_beside_few_that_are_slow_unlike_each_other) {
  const Reference found = lowest_cluster({0, 0.01, 0.02, 0.05, 0.06, 0.66, 1.16, 1.66}, noise);
  EXPECT_EQ(found.middle.num, 5U) << "the cut leaves the three least alike, not those with the least sum of squares";
}

TEST(lowest_cluster, of_values_without_a_gap_is_all_of_them) {
  std::vector<double> values;
  for (int index = 0; index < 48; ++index) values.push_back(0.2 * index / 48);
  EXPECT_EQ(lowest_cluster(values, noise).middle.num, 48U);
}

TEST(lowest_cluster, has_two_members_at_least) {
  EXPECT_EQ(lowest_cluster({-1, 0, 0.001, 0.002, 0.003, 0.004}, noise).middle.num, 6U) << "one lucky value is none";
  EXPECT_EQ(lowest_cluster({0, 0.001, 0.7}, noise).middle.num, 2U);
}

TEST(lowest_cluster, leaves_out_what_is_not_known) {
  const Reference found = lowest_cluster({nan, 0, nan, 0.001, 0.002, 0.7}, noise);
  EXPECT_EQ(found.middle.num, 3U);
  EXPECT_EQ(found.freedom, 2);
  EXPECT_EQ(lowest_cluster({}, noise).middle.num, 0U);
  EXPECT_EQ(lowest_cluster({nan}, noise).middle.num, 0U);
}

TEST(majority, is_the_lower_part_and_what_follows_without_a_gap) {
  EXPECT_EQ(majority({0, 0.01, 0.02, 0.03, 0.04, 0.05, 1, 2, 3, 4}).middle.num, 6U);
  EXPECT_EQ(majority({0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 3, 4}).middle.num, 8U);
  EXPECT_EQ(majority({0, 0.01, 1, 1.01, 1.02, 1.03}).middle.num, 6U) << "the slower half is not cut in two";
  EXPECT_EQ(majority({}).middle.num, 0U);
}

TEST(composed, of_two_slow_ends_is_product_maximum_or_sum) {
  const float twice = std::log(2.0F), thrice = std::log(3.0F);
  EXPECT_NEAR(std::exp(composed(Composition::product, twice, thrice)), 6, 1e-5);
  EXPECT_NEAR(std::exp(composed(Composition::maximum, twice, thrice)), 3, 1e-5);
  EXPECT_NEAR(std::exp(composed(Composition::sum, twice, thrice)), 4, 1e-5) << "one more time for each";
}

TEST(composed, of_a_sound_end_is_the_same_for_all) {
  for (const auto composition : {Composition::product, Composition::maximum, Composition::sum}) {
    EXPECT_EQ(composed(composition, 0.7F, 0.02F), 0.7F + 0.02F);
    EXPECT_EQ(composed(composition, -0.03F, 0.7F), -0.03F + 0.7F);
    EXPECT_TRUE(std::isnan(composed(composition, std::numeric_limits<float>::quiet_NaN(), 0.7F)));
  }
}

/// What a fault is listed as.
FindingList list_of_one(Persistence persistence, double ratio_low = 1.2, bool is_note = false) {
  Fault fault;
  fault.persistence = persistence;
  fault.ratio_low = ratio_low;
  fault.is_note = is_note;
  return list_of(fault);
}

TEST(list_of, a_fault_is_the_one_that_needs_action) {
  EXPECT_EQ(list_of_one(Persistence::not_retested), FindingList::persistent);
  EXPECT_EQ(list_of_one(Persistence::persistent), FindingList::persistent);
  EXPECT_EQ(list_of_one(Persistence::only_under_load), FindingList::only_under_load);
  EXPECT_EQ(list_of_one(Persistence::transient), FindingList::passed);
  EXPECT_EQ(list_of_one(Persistence::persistent, 0.9), FindingList::untested) << "its interval contains 1";
  EXPECT_EQ(list_of_one(Persistence::persistent, 1.2, true), FindingList::note);
}

}  // namespace
}  // namespace leadline::diagnosis::reference_test
