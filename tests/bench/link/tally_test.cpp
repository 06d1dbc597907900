// SPDX-License-Identifier: Apache-2.0
// The end of a round: numbers add up, and an error of one rank is thrown by all.
#include "bench/link/tally.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/thread_cluster.hpp"

namespace leadline::bench::link {
namespace {

using test::run_on_threads;
using test::ThreadCluster;

TEST(CloseRound, AddsUpOverRanks) {
  run_on_threads({0, 0, 0}, [](ThreadCluster& cluster) {
    Tally own;
    if (cluster.rank() != 1) own.add(10.0 * (cluster.rank() + 1));  // rank 1 rests
    own.slowest_first_half_ns = cluster.rank();
    own.rows_are_due = cluster.rank() == 0 ? 1 : 0;
    const Tally all = close_round(cluster, own, std::nullopt);
    EXPECT_EQ(all.num_pairs, 2u);
    EXPECT_EQ(all.time_ns_min, 10);
    EXPECT_EQ(all.time_ns_max, 30);
    EXPECT_EQ(all.time_ns_sum, 40);
    EXPECT_EQ(all.slowest_first_half_ns, 2);
    EXPECT_EQ(all.rows_are_due, 1u);
  });
}

TEST(CloseRound, KeepsWhoLedFirstApart) {
  run_on_threads({0, 0, 0, 0}, [](ThreadCluster& cluster) {
    Tally own;
    if (cluster.rank() == 1) own.first_time_ns = 7;
    if (cluster.rank() == 2) own.second_time_ns = 9;
    own.bandwidth_bytes_per_s_sum = 1.5;
    const Tally all = close_round(cluster, own, std::nullopt);
    EXPECT_EQ(all.first_time_ns, 7);
    EXPECT_EQ(all.second_time_ns, 9);
    EXPECT_EQ(all.bandwidth_bytes_per_s_sum, 6);
  });
}

TEST(SpreadOf, IsThatOfTheNumbersOrNothing) {
  Tally tally;
  EXPECT_EQ(spread_of(tally).num, 0u);
  EXPECT_TRUE(std::isnan(spread_of(tally).mean));
  tally.add(1);
  tally.add(5);
  EXPECT_EQ(spread_of(tally).num, 2u);
  EXPECT_EQ(spread_of(tally).min, 1);
  EXPECT_EQ(spread_of(tally).mean, 3);
  EXPECT_EQ(spread_of(tally).max, 5);
}

TEST(CloseRound, ThrowsTheLowestRanksErrorEverywhere) {
  run_on_threads({0, 0, 0, 0}, [](ThreadCluster& cluster) {
    std::optional<Error> own;
    if (cluster.rank() >= 2)
      own = Error(ExitStatus::run_failed, "problem of " + std::to_string(cluster.rank()), "why", "");
    try {
      close_round(cluster, {}, own);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.problem(), "problem of 2");
      EXPECT_EQ(error.why(), "why");
      EXPECT_EQ(error.hint(), "");
      EXPECT_EQ(error.status(), ExitStatus::run_failed);
    }
  });
}

}  // namespace
}  // namespace leadline::bench::link
