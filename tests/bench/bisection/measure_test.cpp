// SPDX-License-Identifier: Apache-2.0
// The bisection test's measuring stage over a simulated fabric, whose times are known exactly.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "bench/bisection/ranks.hpp"
#include "schedule/pattern.hpp"

namespace leadline::bench::bisection {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(BisectionMeasure, FindsTheBandwidthOfTheFabric) {
  const FabricFile file(1);
  const std::vector<Rank> ranks = measured(setting_of(6, 1, file, 3));
  const Measured& all = ranks[0].measured;
  ASSERT_THAT(all.patterns, SizeIs(3));
  for (const PatternSummary& pattern : all.patterns) {
    EXPECT_EQ(pattern.num_connections, 6u);
    for (const double found : {pattern.bytes_per_s_mean, pattern.bytes_per_s_harmonic, pattern.bytes_per_s_min,
                               pattern.bytes_per_s_max, pattern.bytes_per_s_full_load}) {
      EXPECT_DOUBLE_EQ(found, between_hosts);
    }
    EXPECT_DOUBLE_EQ(pattern.time_ns_mean, 3000);
    EXPECT_EQ(pattern.slowest_from, 0);  // all are alike
  }
  ASSERT_THAT(all.baseline, SizeIs(3));
  for (const BaselineSample& sample : all.baseline) EXPECT_DOUBLE_EQ(sample.time_ns, 3000);
  ASSERT_THAT(all.sizes, SizeIs(1));
  const BisectionSummary& size = all.sizes[0];
  EXPECT_EQ(size.stopped_by, StopReason::rounds);
  EXPECT_EQ(size.num_patterns, 3u);
  EXPECT_EQ(size.num_connections, 18u);
  for (const Interval& interval : {size.ebb, size.full_load, size.baseline}) {
    EXPECT_EQ(interval.num, 3u);
    EXPECT_DOUBLE_EQ(interval.mean, between_hosts);
    EXPECT_NEAR(interval.half_width, 0, 1);
  }
  EXPECT_NEAR(size.contention_share.mean, 1, 1e-12);
  EXPECT_NEAR(size.contention_share.half_width, 0, 1e-9);
  EXPECT_DOUBLE_EQ(size.bytes_per_s_harmonic, between_hosts);
  EXPECT_DOUBLE_EQ(size.bytes_per_s_median, between_hosts);
}

TEST(BisectionMeasure, EveryRankKeepsItsOwnTimesAndRankZeroTheRest) {
  const FabricFile file(1);
  const Setting setting = setting_of(6, 1, file, 3);
  const std::vector<Rank> ranks = measured(setting);
  const Plan plan = plan_of(setting);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ASSERT_THAT(ranks[rank].store.times, SizeIs(3));
    for (std::uint64_t index = 0; index < 3; ++index) {
      const auto pattern = schedule::random_pattern(plan.participants, plan.ranks, setting.request.seed, index);
      const RankTimes& own = ranks[rank].store.times[index];
      EXPECT_EQ(own.to, pattern.send_to[rank]);
      EXPECT_EQ(own.from, pattern.send_to[rank]);
      EXPECT_DOUBLE_EQ(own.time_ns, 3000);
      EXPECT_DOUBLE_EQ(own.full_load_time_ns, 3000);
    }
    EXPECT_THAT(ranks[rank].measured.patterns, SizeIs(3));
    EXPECT_THAT(ranks[rank].store.patterns, SizeIs(3));
    EXPECT_THAT(ranks[rank].store.baseline, SizeIs(3));
  }
}

TEST(BisectionMeasure, BaselinePairsAreThoseOfTheirPattern) {
  const FabricFile file(1);
  Setting setting = setting_of(6, 1, file, 4);
  setting.request.num_baseline_pairs = 2;
  const Measured all = measured(setting)[0].measured;
  ASSERT_THAT(all.baseline, SizeIs(8));
  const Plan plan = plan_of(setting);
  for (std::size_t i = 0; i < all.baseline.size(); ++i) {
    const BaselineSample& sample = all.baseline[i];
    EXPECT_EQ(sample.number, i / 2);
    const auto pattern = schedule::random_pattern(plan.participants, plan.ranks, setting.request.seed, sample.number);
    EXPECT_EQ(pattern.send_to[static_cast<std::size_t>(sample.from)], sample.to);
    EXPECT_NE(sample.from, all.baseline[i ^ 1].from);  // the other one of this pattern
  }
}

TEST(BisectionMeasure, WithAnOddNumberOneRankRests) {
  const FabricFile file(1);
  const std::vector<Rank> ranks = measured(setting_of(5, 1, file, 6));
  for (const PatternSummary& pattern : ranks[0].measured.patterns) {
    EXPECT_EQ(pattern.num_connections, 4u);
    EXPECT_DOUBLE_EQ(pattern.bytes_per_s_mean, between_hosts);
    std::size_t num_resting = 0;
    for (const Rank& rank : ranks) {
      const RankTimes& own = rank.store.times[pattern.position.number];
      if (own.to != schedule::no_rank) continue;
      ++num_resting;
      EXPECT_EQ(own.time_ns, 0);
      EXPECT_EQ(own.full_load_time_ns, 0);
    }
    EXPECT_EQ(num_resting, 1u);
  }
  EXPECT_EQ(ranks[0].measured.sizes[0].num_connections, 24u);
}

TEST(BisectionMeasure, PairsLieBetweenHostsUnlessThereIsOne) {
  const FabricFile two(2);
  const Measured of_two = measured(setting_of(4, 2, two, 5))[0].measured;
  for (const PatternSummary& pattern : of_two.patterns) {
    EXPECT_DOUBLE_EQ(pattern.bytes_per_s_min, between_hosts);
    EXPECT_DOUBLE_EQ(pattern.bytes_per_s_max, between_hosts);
  }
  const FabricFile one(4);
  const Measured of_one = measured(setting_of(4, 4, one, 5))[0].measured;
  for (const PatternSummary& pattern : of_one.patterns) {
    EXPECT_DOUBLE_EQ(pattern.bytes_per_s_mean, on_one_host);
  }
}

TEST(BisectionMeasure, OnlySoManyRanksOfAHostTakePart) {
  const FabricFile file(2);
  Setting setting = setting_of(6, 2, file, 3);
  setting.request.active_ranks_per_host = 1;
  const std::vector<Rank> ranks = measured(setting);
  for (std::size_t rank = 1; rank < ranks.size(); rank += 2) {
    for (const RankTimes& own : ranks[rank].store.times) EXPECT_EQ(own.to, schedule::no_rank);
  }
  for (const PatternSummary& pattern : ranks[0].measured.patterns) EXPECT_EQ(pattern.num_connections, 2u);
}

TEST(BisectionMeasure, NamedPatternsComeBehindRandomOnesAsOftenAsIsAskedFor) {
  const FabricFile file(2);
  Setting setting = setting_of(4, 2, file, 2);
  setting.request.patterns = {"neighbour", "random", "shift:1", "halves"};
  setting.request.repeat = 2;
  const std::vector<Rank> ranks = measured(setting);
  const std::vector<PatternSummary>& patterns = ranks[0].measured.patterns;
  std::vector<std::string> names;
  for (const PatternSummary& pattern : patterns) {
    names.push_back(pattern.position.name);
    EXPECT_EQ(pattern.position.number, names.size() - 1);
  }
  EXPECT_THAT(names,
              ElementsAre("random", "random", "neighbour", "shift:1", "halves", "neighbour", "shift:1", "halves"));
  EXPECT_EQ(patterns[6].position.repeat, 1);
  EXPECT_EQ(patterns[6].position.index, 1u);
  EXPECT_EQ(patterns[6].position.kind, PatternKind::named);
  EXPECT_DOUBLE_EQ(patterns[2].bytes_per_s_mean, on_one_host);
  EXPECT_DOUBLE_EQ(patterns[4].bytes_per_s_mean, between_hosts);
  // 0 -> 1 -> 2 -> 3 -> 0: four messages in a row, of 100 on a host, 1000 between hosts, and one latency.
  EXPECT_EQ(ranks[1].store.times[3].to, 2);
  EXPECT_EQ(ranks[1].store.times[3].from, 0);
  EXPECT_DOUBLE_EQ(ranks[1].store.times[3].time_ns, (500 + 4 * 100) / 4.0);
  EXPECT_DOUBLE_EQ(ranks[2].store.times[3].time_ns, (2000 + 4 * 1000) / 4.0);
  EXPECT_EQ(ranks[0].measured.sizes[0].num_patterns, 2u);
  EXPECT_EQ(ranks[0].measured.sizes[0].num_connections, 8u);
}

/// All of a pattern's connections take 2000 once and 1000 a message, but one, which takes eight times that.
void expect_slow_connection(const Setting& setting, std::int32_t from, std::int32_t to) {
  const std::vector<Rank> ranks = measured(setting);
  const PatternSummary& pattern = ranks[0].measured.patterns.at(0);
  EXPECT_EQ(pattern.slowest_from, from);
  EXPECT_EQ(pattern.slowest_to, to);
  const double usual_ns = (2000 + 4 * 1000) / 4.0, slow_ns = 8 * usual_ns;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankTimes& own = ranks[rank].store.times.at(0);
    EXPECT_DOUBLE_EQ(own.time_ns, own.from == from ? slow_ns : usual_ns) << own.from << " -> " << rank;
    // The others are done when the slow one has not brought its first message.
    EXPECT_DOUBLE_EQ(own.full_load_time_ns, own.from == from ? 6000 / (6000 / (8 * 3000.0)) : usual_ns);
  }
  const auto num = static_cast<double>(ranks.size());
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_mean, ((num - 1) * rate(usual_ns) + rate(slow_ns)) / num);
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_min, rate(slow_ns));
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_max, rate(usual_ns));
}

TEST(BisectionMeasure, OneSlowConnectionOfAOneWayPatternIsNamedAndLeavesTheOthersAsTheyAre) {
  const FabricFile next(1, R"({"slow_link": [5, 6], "factor": 8})");
  Setting setting = setting_of(8, 1, next, 1);
  setting.request.patterns = {"shift:1"};
  expect_slow_connection(setting, 5, 6);
  const FabricFile further(1, R"({"slow_link": [2, 5], "factor": 8})");
  setting.transport = further.transport();
  setting.request.patterns = {"shift:3"};
  expect_slow_connection(setting, 2, 5);
  // Six groups of two: each to the same place two groups further on.
  const FabricFile tornado(1, R"({"slow_link": [3, 7], "factor": 8})");
  setting.host_of = hosts_of(12, 1);
  setting.transport = tornado.transport();
  setting.request.patterns = {"tornado:2"};
  expect_slow_connection(setting, 3, 7);
}

TEST(BisectionMeasure, NamedPatternsAloneLeaveNoInterval) {
  const FabricFile file(1);
  Setting setting = setting_of(5, 1, file, 2);
  setting.request.patterns = {"shift-each"};
  const Measured all = measured(setting)[0].measured;
  ASSERT_THAT(all.patterns, SizeIs(4));
  for (const PatternSummary& pattern : all.patterns) EXPECT_DOUBLE_EQ(pattern.bytes_per_s_mean, rate(1500));
  EXPECT_EQ(all.sizes[0].stopped_by, StopReason::not_stopped);
  EXPECT_EQ(all.sizes[0].num_patterns, 0u);
  EXPECT_TRUE(std::isnan(all.sizes[0].ebb.mean));
  EXPECT_TRUE(std::isnan(all.sizes[0].bytes_per_s_median));
  EXPECT_THAT(all.sizes[0].buckets, IsEmpty());
  EXPECT_THAT(all.slow_connections, IsEmpty());
}

TEST(BisectionMeasure, GoesThroughSizesWithTheSamePatterns) {
  const FabricFile file(1);
  Setting setting = setting_of(4, 1, file, 2);
  setting.request.message_sizes_bytes = {1000, 4000};
  setting.request.retest = 1;
  const std::vector<Rank> ranks = measured(setting);
  for (const Rank& rank : ranks) {
    ASSERT_THAT(rank.store.times, SizeIs(4));
    EXPECT_EQ(rank.store.times[0].to, rank.store.times[2].to);
    EXPECT_DOUBLE_EQ(rank.store.times[2].time_ns, 6000);
    EXPECT_THAT(rank.store.first_numbers, ElementsAre(0, 0));
  }
  const Measured& all = ranks[0].measured;
  EXPECT_EQ(all.patterns[3].position.number, 1u);
  EXPECT_EQ(all.patterns[3].position.size_index, 1);
  EXPECT_DOUBLE_EQ(all.sizes[1].ebb.mean, 1e9 * 4000 / 6000);
  EXPECT_THAT(ranks[0].progress.events, ElementsAre("size 1000", "random 4", "so far 1", "random 4", "so far 2",
                                                    "retest " + std::to_string(all.slow_connections[0].from), "end 2",
                                                    "size 4000", "random 4", "so far 1", "random 4", "so far 2",
                                                    "retest " + std::to_string(all.slow_connections[1].from), "end 2"));
  EXPECT_EQ(ranks[2].current_step, "the search for slow hosts and switches");
}

TEST(BisectionMeasure, SearchesForBadPatternsAndGoesOnFromWorseOnes) {
  // Rank 0 is slow towards three others, each more than the one before: the worst pairs it with host 3.
  const FabricFile file(1, R"({"slow_link": [0, 1], "factor": 2}, {"slow_link": [0, 2], "factor": 4},
                              {"slow_link": [0, 3], "factor": 8}, {"slow_link": [4, 5], "factor": 6})");
  Setting setting = setting_of(8, 1, file, 2);
  setting.request.num_worst_steps = 40;
  const Measured all = measured(setting)[0].measured;
  ASSERT_THAT(all.patterns, SizeIs(42));
  double worst = std::min(all.patterns[0].bytes_per_s_mean, all.patterns[1].bytes_per_s_mean);
  const double before = worst;
  for (std::size_t i = 2; i < all.patterns.size(); ++i) {
    const PatternSummary& step = all.patterns[i];
    EXPECT_EQ(step.position.kind, PatternKind::worst);
    EXPECT_EQ(step.position.index, i - 2);
    EXPECT_EQ(step.num_connections, 8u);
    if (step.position.index == 0) {  // the worst random one again
      EXPECT_EQ(step.bytes_per_s_mean, before);
      EXPECT_TRUE(step.accepted);
      continue;
    }
    EXPECT_EQ(step.accepted, step.bytes_per_s_mean < worst);
    if (step.accepted) worst = step.bytes_per_s_mean;
  }
  EXPECT_LT(worst, before);
  EXPECT_EQ(all.sizes[0].num_patterns, 2u);
  EXPECT_EQ(all.sizes[0].stopped_by, StopReason::rounds);
}

TEST(BisectionMeasure, StopsWhenTheIntervalIsNarrow) {
  const FabricFile file(1, {}, 0.01);
  const Measured all = measured(setting_of(4, 1, file, 1000))[0].measured;
  EXPECT_EQ(all.sizes[0].stopped_by, StopReason::precision);
  EXPECT_EQ(all.sizes[0].num_patterns, 20u);
  EXPECT_LT(all.sizes[0].ebb.half_width, 0.01 * all.sizes[0].ebb.mean);
}

TEST(BisectionMeasure, EndsEachSizeAfterOnePatternWhereThereIsNoTime) {
  const FabricFile file(1);
  Setting setting = setting_of(4, 1, file, 1000);
  setting.request.message_sizes_bytes = {8, 1000};
  setting.request.patterns = {"random", "halves"};
  setting.request.num_worst_steps = 5;
  setting.request.time_limit_s = 1e-9;
  const Measured all = measured(setting)[0].measured;
  EXPECT_THAT(all.patterns, SizeIs(2));
  for (const BisectionSummary& size : all.sizes) {
    EXPECT_EQ(size.stopped_by, StopReason::time_limit);
    EXPECT_EQ(size.num_patterns, 1u);
  }
  setting.request.patterns = {"halves", "reversal"};
  setting.request.num_worst_steps = 0;
  EXPECT_THAT(measured(setting)[0].measured.patterns, SizeIs(2));  // the first one of each size
}

TEST(BisectionMeasure, AWrongByteEndsItOnAllRanksAndKeepsWhatWasMeasured) {
  const FabricFile file(1, R"({"corrupt": {"from": 2, "to": 3, "message": 1, "byte": 17}})");
  Setting setting = setting_of(4, 1, file, 50);
  setting.request.verify = true;
  const std::vector<Rank> ranks = measured(setting);
  const std::size_t num = ranks[0].store.patterns.size();
  ASSERT_GT(num, 0u);
  ASSERT_LT(num, 50u);
  const std::string number = std::to_string(num - 1), exchange = std::to_string(4 * (num - 1) + 1);
  for (const Rank& rank : ranks) {
    EXPECT_EQ(rank.error, "rank 3 on node3 received a wrong byte from rank 2 in pattern " + number +
                              " (random), exchange " + exchange + ": byte 17 of a message of 1000 bytes");
    EXPECT_THAT(rank.store.times, SizeIs(num));
  }
  EXPECT_EQ(ranks[3].store.times.back().from, 2);
  EXPECT_DOUBLE_EQ(ranks[0].store.patterns.back().bytes_per_s_mean, between_hosts);
}

TEST(BisectionMeasure, AStoreThatCannotWriteEndsItOnAllRanks) {
  const FabricFile file(1);
  Setting setting = setting_of(4, 1, file, 2);
  setting.store_fails_on = 2;
  const std::vector<Rank> ranks = measured(setting);
  for (const Rank& rank : ranks) EXPECT_EQ(rank.error, "the disk is full");
  EXPECT_THAT(ranks[0].store.patterns, SizeIs(2));
}

TEST(BisectionMeasure, GivesTheSameOnceMore) {
  const FabricFile file(2, R"({"slow_rank": 5, "factor": 1.3})", 0.2);
  Setting setting = setting_of(8, 2, file, 10);
  setting.request.patterns = {"random", "shift:3"};
  setting.request.num_worst_steps = 10;
  const Measured one = measured(setting)[0].measured, other = measured(setting)[0].measured;
  ASSERT_EQ(one.patterns.size(), other.patterns.size());
  for (std::size_t i = 0; i < one.patterns.size(); ++i) {
    EXPECT_EQ(one.patterns[i].bytes_per_s_mean, other.patterns[i].bytes_per_s_mean);
    EXPECT_EQ(one.patterns[i].bytes_per_s_full_load, other.patterns[i].bytes_per_s_full_load);
    EXPECT_EQ(one.patterns[i].slowest_from, other.patterns[i].slowest_from);
    EXPECT_EQ(one.patterns[i].accepted, other.patterns[i].accepted);
  }
  EXPECT_EQ(one.sizes[0].bytes_per_s_p05, other.sizes[0].bytes_per_s_p05);
  EXPECT_EQ(one.sizes[0].contention_share.half_width, other.sizes[0].contention_share.half_width);
  EXPECT_EQ(one.slow_connections.size(), 10u);
  for (std::size_t i = 0; i < one.slow_connections.size(); ++i) {
    EXPECT_EQ(one.slow_connections[i].from, other.slow_connections[i].from);
    EXPECT_EQ(one.slow_connections[i].alone_time_ns, other.slow_connections[i].alone_time_ns);
  }
}

// Over sockets, with real bytes.

TEST(BisectionMeasure, RunsOverTcpAndVerifiesEveryByte) {
  Setting setting;
  setting.host_of = hosts_of(5, 1);
  setting.transport = "tcp";
  setting.request.message_sizes_bytes = {1, 70'000};
  setting.request.patterns = {"random", "shift-each", "reversal"};
  setting.request.num_exchanges = 3;
  setting.request.rounds = 6;
  setting.request.num_worst_steps = 3;
  setting.request.verify = true;
  setting.request.fill = Fill::random;
  const std::vector<Rank> ranks = measured(setting);
  EXPECT_EQ(ranks[0].error, "");
  const Measured& all = ranks[0].measured;
  ASSERT_THAT(all.patterns, SizeIs(2 * (6 + 5 + 3)));
  // Random ones, steps and reversal leave one of five out.
  EXPECT_EQ(all.verified_bytes, 3u * 70'001 * (6 * 4 + 4 * 5 + 4 + 3 * 4));
  for (const PatternSummary& pattern : all.patterns) {
    EXPECT_GT(pattern.bytes_per_s_min, 0);
    EXPECT_GE(pattern.bytes_per_s_mean, pattern.bytes_per_s_harmonic * (1 - 1e-12));
    EXPECT_GE(pattern.begin_s, 0);
  }
}

}  // namespace
}  // namespace leadline::bench::bisection
