// SPDX-License-Identifier: Apache-2.0
// What the measuring stage is made of: progress within a loop, pairs alone, distributions, lists, shares of time.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "bench/bisection/exchange_loop.hpp"
#include "bench/bisection/measure.hpp"
#include "bench/bisection/retest.hpp"
#include "bench/bisection/stopping.hpp"
#include "bench/bisection/tally.hpp"
#include "bench/current_step.hpp"
#include "bench/links.hpp"
#include "core/random.hpp"
#include "kernel/barrier.hpp"
#include "stats/summary.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::bisection {
namespace {

using test::run_on_threads;
using test::ThreadCluster;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::uint32_t> one_host(int num_ranks) {
  return std::vector<std::uint32_t>(static_cast<std::size_t>(num_ranks));
}

TEST(ExchangesDone, RunEvenlyWithinOne) {
  const std::vector<std::uint64_t> ends_ns{100, 300, 300, 500};
  EXPECT_DOUBLE_EQ(exchanges_done(ends_ns, 50), 0.5);
  EXPECT_DOUBLE_EQ(exchanges_done(ends_ns, 100), 1);
  EXPECT_DOUBLE_EQ(exchanges_done(ends_ns, 150), 1.25);
  EXPECT_DOUBLE_EQ(exchanges_done(ends_ns, 300), 3);
  EXPECT_DOUBLE_EQ(exchanges_done(ends_ns, 450), 3.75);
  EXPECT_DOUBLE_EQ(exchanges_done(ends_ns, 600), 4);
}

TEST(FullLoad, IsOfThoseThatReceive) {
  const std::vector<std::uint64_t> ends_ns{10, 20};
  EXPECT_DOUBLE_EQ(full_load_time_ns({{schedule::no_rank, 3}, 21, ends_ns}, 15), 10);
  EXPECT_EQ(full_load_time_ns({{3, schedule::no_rank}, 0, {}}, 10), 0);
  EXPECT_DOUBLE_EQ(full_load_time_ns({{3, 3}, 21, ends_ns}, 10), 10);
  EXPECT_EQ(full_load_time_ns({}, 10), 0);
}

schedule::Pattern matching(std::vector<std::int32_t> send_to) { return {std::move(send_to)}; }

TEST(BaselinePairs, AreDifferentOnesOfThePattern) {
  const schedule::Pattern pattern = matching({5, 4, -1, 6, 1, 0, 3});
  std::map<std::int32_t, int> drawn;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const std::vector<AlonePair> pairs = draw_baseline_pairs(pattern, 2, 7, index);
    ASSERT_THAT(pairs, SizeIs(2));
    EXPECT_NE(pairs[0], pairs[1]);
    EXPECT_EQ(pairs, draw_baseline_pairs(pattern, 2, 7, index));
    for (const AlonePair& pair : pairs) {
      EXPECT_EQ(pattern.send_to[static_cast<std::size_t>(pair.from)], pair.to);
      ++drawn[pair.from];
    }
  }
  ASSERT_THAT(drawn, SizeIs(3));
  for (const auto& [rank, num] : drawn) EXPECT_NEAR(num, 200, 40);
}

TEST(BaselinePairs, AreAllWhereMoreAreWanted) {
  EXPECT_THAT(draw_baseline_pairs(matching({1, 0, 3, 2}), 9, 1, 0), SizeIs(2));
  EXPECT_THAT(draw_baseline_pairs(matching({1, 0, 3, 2}), 0, 1, 0), IsEmpty());
}

std::vector<double> times_of(int rank, std::size_t num) {
  Random random(3, static_cast<std::uint64_t>(rank));
  std::vector<double> times_ns;
  for (std::size_t i = 0; i < num; ++i) times_ns.push_back(100 + 1e5 * random.uniform());
  return times_ns;
}

TEST(DistributionOverRanks, IsThatOfAllTogether) {
  for (const std::size_t num_each : {1u, 2u, 7u, 40u}) {
    std::vector<double> rates;
    for (int rank = 0; rank < 5; ++rank) {
      for (const double time_ns : times_of(rank, num_each + static_cast<std::size_t>(rank))) {
        rates.push_back(bytes_per_s(1000, time_ns));
      }
    }
    std::sort(rates.begin(), rates.end());
    run_on_threads(one_host(5), [&](ThreadCluster& cluster) {
      const std::vector<double> own = times_of(cluster.rank(), num_each + static_cast<std::size_t>(cluster.rank()));
      const Distribution all = distribution_over_ranks(cluster, own, 1000, 3);
      EXPECT_EQ(all.num, rates.size());
      EXPECT_EQ(all.min, rates.front());
      EXPECT_EQ(all.max, rates.back());
      EXPECT_DOUBLE_EQ(all.p01, stats::quantile_of_sorted(rates, 0.01));
      EXPECT_DOUBLE_EQ(all.p05, stats::quantile_of_sorted(rates, 0.05));
      EXPECT_DOUBLE_EQ(all.median, stats::quantile_of_sorted(rates, 0.5));
      std::uint64_t num = 0;
      for (const TimeBucket& bucket : all.buckets) num += bucket.num;
      EXPECT_EQ(num, rates.size());
    });
  }
}

TEST(DistributionOverRanks, PutsTheGreatestIntoTheLastBucket) {
  run_on_threads(one_host(3), [](ThreadCluster& cluster) {
    const std::vector<double> own[] = {{10, 12}, {}, {19.99, 20, 15}};
    const Distribution all = distribution_over_ranks(cluster, own[cluster.rank()], 1000, 5);
    std::vector<std::uint64_t> nums;
    for (const TimeBucket& bucket : all.buckets) nums.push_back(bucket.num);
    EXPECT_THAT(nums, ElementsAre(1, 1, 1, 0, 2));
    EXPECT_EQ(all.buckets[2].low_ns, 14);
    EXPECT_EQ(all.buckets[2].high_ns, 16);
  });
}

TEST(DistributionOverRanks, MayHaveNoWidthAndMayBeEmpty) {
  run_on_threads(one_host(2), [](ThreadCluster& cluster) {
    const std::vector<double> same{10, 10};
    const Distribution all = distribution_over_ranks(cluster, same, 1000, 2);
    EXPECT_EQ(all.buckets[0].num, 0u);
    EXPECT_EQ(all.buckets[1].num, 4u);
    EXPECT_EQ(all.p01, all.max);
    EXPECT_THAT(distribution_over_ranks(cluster, same, 1000, 0).buckets, IsEmpty());
    const Distribution none = distribution_over_ranks(cluster, {}, 1000, 2);
    EXPECT_EQ(none.num, 0u);
    EXPECT_NE(none.median, none.median);
    EXPECT_THAT(none.buckets, IsEmpty());
  });
}

TEST(SuspectedConnections, AreFoundOnceForEveryTwoRanks) {
  // Patterns 0 to 2 of three ranks, one of which rests.
  const std::vector<RankTimes> of_rank[] = {
      {{1, 1, 50, 0}, {2, 2, 70, 0}, {}}, {{0, 0, 51, 0}, {}, {2, 2, 10, 0}}, {{}, {0, 0, 70, 0}, {1, 1, 9, 0}}};
  run_on_threads(one_host(3), [&](ThreadCluster& cluster) {
    const auto found = suspected_connections(cluster, 4, of_rank[cluster.rank()], 2);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].from, 0);
    EXPECT_EQ(found[0].to, 2);
    EXPECT_EQ(found[0].number, 1u);
    EXPECT_EQ(found[1].from, 0);
    EXPECT_EQ(found[1].to, 1);
    EXPECT_EQ(found[1].time_ns, 51);
    EXPECT_EQ(found[1].size_index, 4);
    EXPECT_THAT(suspected_connections(cluster, 4, of_rank[cluster.rank()], 9), SizeIs(3));
    EXPECT_THAT(suspected_connections(cluster, 4, of_rank[cluster.rank()], 0), IsEmpty());
  });
}

TEST(SuspectedConnections, HaveThatOfARankThatIsSlowWithEverybody) {
  // Rank 3 takes 40 with all; the others take 90 once, and 10.
  const std::vector<RankTimes> of_rank[] = {{{1, 1, 90, 0}, {2, 2, 10, 0}, {3, 3, 42, 0}},
                                            {{0, 0, 91, 0}, {3, 3, 41, 0}, {2, 2, 10, 0}},
                                            {{3, 3, 40, 0}, {0, 0, 10, 0}, {1, 1, 93, 0}},
                                            {{2, 2, 40, 0}, {1, 1, 41, 0}, {0, 0, 42, 0}}};
  run_on_threads(one_host(4), [&](ThreadCluster& cluster) {
    const auto found = suspected_connections(cluster, 0, of_rank[cluster.rank()], 2);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].time_ns, 93);
    EXPECT_EQ(std::minmax(found[1].from, found[1].to), std::minmax(2, 3));
  });
}

BisectionRequest limited(double time_limit_s, std::size_t num_sizes) {
  BisectionRequest request;
  request.time_limit_s = time_limit_s;
  request.message_sizes_bytes.assign(num_sizes, 8);
  return request;
}

TEST(TimeBudget, IsSharedAmongSizesToComeAndLeavesTimeForOtherPatterns) {
  TimeBudget budget(limited(4e6, 4));
  budget.begin_size();
  EXPECT_FALSE(budget.size_is_over());
  EXPECT_NEAR(budget.random_limit_s(0, 1), 1e6, 100);
  EXPECT_NEAR(budget.random_limit_s(100, 1e3), 9e5, 100);
  EXPECT_NEAR(budget.random_limit_s(100, 1e5), 5e5, 100) << "at least half";
  budget.begin_size();
  EXPECT_NEAR(budget.random_limit_s(0, 1), 4e6 / 3, 100) << "what the first one left is for all others";
}

TEST(TimeBudget, WithoutALimitIsNeverOver) {
  TimeBudget budget(limited(0, 2));
  budget.begin_size();
  EXPECT_FALSE(budget.size_is_over());
  EXPECT_EQ(budget.random_limit_s(1000, 1000), 0);
}

TEST(TimeBudget, ThatIsSpentLeavesLessThanAnyPatternTakes) {
  TimeBudget budget(limited(1e-12, 2));
  budget.begin_size();
  EXPECT_GT(budget.random_limit_s(0, 0), 0) << "0 would be no limit";
  while (!budget.size_is_over()) {
  }
}

TEST(CurrentStep, SayWhichPatternItIs) {
  EXPECT_EQ(CurrentStep().text(), "the opening of links");
  CurrentStep current_step;
  current_step.enter(step_text({1, 1 << 20, 17, PatternKind::random, 17, 0, "random"}, Activity::pattern));
  EXPECT_EQ(current_step.text(), "bisection 1 MiB, pattern 17 (random)");
  current_step.enter(step_text({0, 1000, 1003, PatternKind::named, 1, 0, "shift:3"}, Activity::baseline));
  EXPECT_EQ(current_step.text(), "bisection 1000 B, pairs alone behind pattern 1003 (shift:3)");
}

/// How many moments it takes to open all links when each takes one and waits for both ends; 0 = never.
int moments_to_open(const std::vector<std::vector<std::int32_t>>& partners) {
  std::vector<std::size_t> next(partners.size());
  const auto wants = [&](std::size_t rank) {
    return next[rank] < partners[rank].size() ? partners[rank][next[rank]] : -1;
  };
  for (int moment = 0;; ++moment) {
    std::vector<std::size_t> served;
    bool all_done = true;
    for (std::size_t rank = 0; rank < partners.size(); ++rank) {
      if (wants(rank) < 0) continue;
      all_done = false;
      if (wants(static_cast<std::size_t>(wants(rank))) == static_cast<int>(rank)) served.push_back(rank);
    }
    if (all_done) return moment;
    if (served.empty()) return 0;
    for (const std::size_t rank : served) ++next[rank];
  }
}

TEST(DrawnOrder, OpensEveryShiftWithoutACircleAndWithoutLongChains) {
  for (const int num_ranks : {2, 3, 4, 5, 8, 31, 64, 500}) {
    for (int shift = 1; shift < std::min(num_ranks, 40); ++shift) {
      std::vector<std::vector<std::int32_t>> partners;
      for (int rank = 0; rank < num_ranks; ++rank) {
        const std::vector<std::int32_t> both{(rank + shift) % num_ranks, (rank + num_ranks - shift) % num_ranks};
        partners.push_back(in_hashed_order(both, rank));
      }
      const int moments = moments_to_open(partners);
      EXPECT_GT(moments, 0) << num_ranks << " ranks, shift " << shift;
      EXPECT_LT(moments, 14) << num_ranks << " ranks, shift " << shift;
    }
  }
}

TEST(DrawnOrder, OpensThoseOfBarriersAndNamesEachOnce) {
  std::vector<std::vector<std::int32_t>> partners;
  for (int rank = 0; rank < 100; ++rank) partners.push_back(in_hashed_order(kernel::barrier_partners(rank, 100), rank));
  EXPECT_GT(moments_to_open(partners), 0);
  EXPECT_THAT(in_hashed_order(std::vector<std::int32_t>{3, 3}, 0), ElementsAre(3));
  EXPECT_THAT(in_hashed_order({}, 0), IsEmpty());
}

}  // namespace
}  // namespace leadline::bench::bisection
