// SPDX-License-Identifier: Apache-2.0
// When a measurement says of itself that it is unfit.
#include "bench/link/unfit.hpp"

#include <gtest/gtest.h>

#include <string>

namespace leadline::bench::link {
namespace {

std::vector<SliceSummary> fastest(double time_ns) {
  SliceSummary summary;
  summary.all.num_pairs = 2;
  summary.all.time_ns_min = time_ns;
  return {summary};
}

Conditions fit() {
  Conditions conditions;
  conditions.num_players = 2;
  conditions.ranks_per_core_max = 1;
  conditions.clock = {"test", 20, 25};
  return conditions;
}

std::string ids(const Conditions& conditions, double fastest_ns) {
  std::string text;
  for (const Finding& finding : unfit(conditions, fastest(fastest_ns))) text += finding.id + " ";
  return text;
}

TEST(Unfit, SaysNothingOfAGoodMeasurement) { EXPECT_EQ(ids(fit(), 1000), ""); }

TEST(Unfit, NamesEachConditionThatSpoilsIt) {
  Conditions conditions = fit();
  conditions.ranks_per_core_max = 4;
  EXPECT_EQ(ids(conditions, 1000), "oversubscribed ");
  conditions = fit();
  conditions.is_bound = false;
  EXPECT_EQ(ids(conditions, 1000), "not_bound ");
  conditions = fit();
  conditions.num_players = 1;
  EXPECT_EQ(ids(conditions, 1000), "loop_to_itself ");
}

TEST(Unfit, DrawsTheLineForTheClockAtFivePercent) {
  EXPECT_EQ(ids(fit(), 501), "");
  EXPECT_EQ(ids(fit(), 499), "clock_too_coarse ");
}

TEST(Unfit, JudgesNoMachineWhereTimesAreSimulated) {
  Conditions conditions = fit();
  conditions.simulated = true;
  conditions.ranks_per_core_max = 8;
  EXPECT_EQ(ids(conditions, 10), "simulated ");
}

}  // namespace
}  // namespace leadline::bench::link
