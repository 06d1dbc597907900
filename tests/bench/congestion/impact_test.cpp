// SPDX-License-Identifier: Apache-2.0
// Impact factors: closed cases, and whether intervals hold the truth of simulated queues as often as they say.
#include "bench/congestion/impact.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "bench/congestion/queue_simulation.hpp"

namespace leadline::bench::congestion {
namespace {

RoundTimes constant(double alone_ns, double loaded_ns, int num) {
  RoundTimes times;
  for (int i = 0; i < num; ++i) {
    times.alone.add(alone_ns);
    times.loaded.add(loaded_ns);
  }
  return times;
}

TEST(Impact, OfConstantTimesIsTheirRatio) {
  const std::vector<RoundTimes> rounds(6, constant(1024, 4096, 5000));
  const Impact impact = impact_of(rounds);
  EXPECT_EQ(impact.num_rounds, 6u);
  EXPECT_EQ(impact.alone.num, 30'000u);
  EXPECT_DOUBLE_EQ(impact.loaded.mean, 4096);
  EXPECT_EQ(impact.loaded.max, 4096);
  for (const Factor& factor : {impact.mean, impact.median, impact.p99, impact.p999}) {
    EXPECT_NEAR(factor.estimate, 4, 0.01);
    EXPECT_NEAR(factor.low, factor.estimate, 1e-6);
    EXPECT_NEAR(factor.high, factor.estimate, 1e-6);
  }
}

/// Twice, three times ... as long.
std::vector<RoundTimes> rounds_that_differ(int num) {
  std::vector<RoundTimes> rounds;
  for (int i = 0; i < num; ++i) rounds.push_back(constant(1000, 1000 * (2 + i), 100));
  return rounds;
}

TEST(Impact, OfTenRoundsTheSecondAndTheNinthAreTheInterval) {
  const Factor mean = impact_of(rounds_that_differ(10)).mean;
  EXPECT_DOUBLE_EQ(mean.estimate, 6.5);
  EXPECT_DOUBLE_EQ(mean.low, 3);
  EXPECT_DOUBLE_EQ(mean.high, 10);
}

TEST(Impact, HasNoIntervalOfFiveRoundsAndNothingOfNone) {
  const Factor five = impact_of(rounds_that_differ(5)).mean, six = impact_of(rounds_that_differ(6)).mean;
  EXPECT_DOUBLE_EQ(five.estimate, 4);
  EXPECT_TRUE(std::isnan(five.low) && std::isnan(five.high));
  EXPECT_DOUBLE_EQ(six.low, 2);
  EXPECT_DOUBLE_EQ(six.high, 7);
  EXPECT_TRUE(std::isnan(impact_of({}).median.estimate));
  EXPECT_EQ(impact_of({}).num_rounds, 0u);
}

TEST(Impact, TellsNoQuantileOfTooFew) {
  const std::vector<RoundTimes> rounds(3, constant(1000, 2000, 400));  // 12 beyond the 99 % quantile
  const Impact impact = impact_of(rounds);
  EXPECT_FALSE(std::isnan(impact.p99.estimate));
  EXPECT_TRUE(std::isnan(impact.p999.estimate));
  EXPECT_TRUE(std::isnan(impact.loaded.p999));
}

TEST(Impact, TellsNoQuantileWhereARoundHasTooFew) {
  std::vector<RoundTimes> rounds(20, constant(1000, 2000, 150));
  rounds.push_back(constant(1000, 2000, 50));
  EXPECT_TRUE(std::isnan(impact_of(rounds).p99.estimate));
  EXPECT_FALSE(std::isnan(impact_of(rounds).loaded.p99));
}

TEST(Impact, RoundsWithoutOneStateDoNotCount) {
  std::vector<RoundTimes> rounds(3, constant(1000, 2000, 100));
  rounds.emplace_back().alone.add(1e9);
  EXPECT_EQ(impact_of(rounds).num_rounds, 3u);
  EXPECT_NEAR(impact_of(rounds).mean.estimate, 2, 1e-9);
}

struct Covered {
  int mean = 0, median = 0, p99 = 0, p999 = 0;
};

/// How many of so many runs have the truth in their interval.
Covered covered_of(const QueueSimulation& simulation, int num_runs, int num_rounds) {
  Random random(2026);
  const Impact truth = simulation.truth(random, 200);
  Covered covered;
  for (int run = 0; run < num_runs; ++run) {
    std::vector<RoundTimes> rounds;
    for (int i = 0; i < num_rounds; ++i) rounds.push_back(simulation.round(random));
    const Impact impact = impact_of(rounds);
    const auto holds = [](const Factor& factor, const Factor& true_factor) {
      return factor.low <= true_factor.estimate && true_factor.estimate <= factor.high;
    };
    covered.mean += holds(impact.mean, truth.mean) ? 1 : 0;
    covered.median += holds(impact.median, truth.median) ? 1 : 0;
    covered.p99 += holds(impact.p99, truth.p99) ? 1 : 0;
    covered.p999 += holds(impact.p999, truth.p999) ? 1 : 0;
  }
  return covered;
}

// Ten rounds hold their median with 97.9 %. benchmarks/congestion/intervals.cpp has more runs and loads.
TEST(Impact, IntervalsHoldTheTruthOfSimulatedQueues) {
  constexpr int num_runs = 200, num_rounds = 10, fewest = 190;
  struct Case {
    Arrivals arrivals;
    double utilization;
  };
  for (const auto& [arrivals, utilization] :
       {Case{Arrivals::packets, 0.05}, Case{Arrivals::packets, 0.85}, Case{Arrivals::bursts, 0.5}}) {
    QueueSimulation simulation;
    simulation.arrivals = arrivals;
    simulation.utilization = utilization;
    const Covered covered = covered_of(simulation, num_runs, num_rounds);
    EXPECT_GE(covered.mean, fewest) << utilization;
    EXPECT_GE(covered.median, fewest) << utilization;
    EXPECT_GE(covered.p99, fewest) << utilization;
    EXPECT_GE(covered.p999, fewest) << utilization;
  }
}

}  // namespace
}  // namespace leadline::bench::congestion
