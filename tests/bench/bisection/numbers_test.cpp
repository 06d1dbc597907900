// SPDX-License-Identifier: Apache-2.0
// What a bisection test says of its connections together: quantiles, load, and what is slow alone.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/bisection/ranks.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::bisection {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(BisectionNumbers, EachRankKeepsWhatItReceivedOfEachPair) {
  const FabricFile file(1, R"({"slow_rank": 4, "factor": 3})");
  const std::vector<Rank> ranks = measured(setting_of(6, 1, file, 12));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ASSERT_THAT(ranks[rank].measured.observed, SizeIs(1));
    const auto& own = ranks[rank].measured.observed[0];
    ASSERT_FALSE(own.empty());
    for (const diagnosis::Observation& one : own) {
      EXPECT_EQ(one.to, rank);
      EXPECT_EQ(one.time_ns > 3000, rank == 4 || one.from == 4) << one.from << " to " << rank;
    }
    EXPECT_TRUE(std::ranges::is_sorted(own, std::less<>(), &diagnosis::Observation::from));
  }
}

TEST(BisectionNumbers, ASlowLinkIsSlowAlone) {
  const FabricFile file(1, R"({"slow_link": [1, 4], "factor": 3})");
  Setting setting = setting_of(6, 1, file, 20);
  setting.request.retest = 3;
  const Measured all = measured(setting)[0].measured;
  ASSERT_THAT(all.slow_connections, SizeIs(3));
  const SlowConnection& worst = all.slow_connections[0];
  EXPECT_EQ(std::min(worst.from, worst.to), 1);
  EXPECT_EQ(std::max(worst.from, worst.to), 4);
  // 9000 there and 3000 back; who got the fast message is one exchange ahead, so that two take 12000.
  EXPECT_DOUBLE_EQ(worst.time_ns, 6000);
  EXPECT_DOUBLE_EQ(worst.alone_time_ns, 6000);
  EXPECT_TRUE(worst.slow_alone);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(all.slow_connections[i].alone_time_ns, 3000);
    EXPECT_FALSE(all.slow_connections[i].slow_alone);
  }
}

TEST(BisectionNumbers, SummarizesWhatEveryRankKept) {
  const FabricFile file(2, {}, 2);
  Setting setting = setting_of(7, 2, file, 12);
  setting.request.num_buckets = 4;
  const std::vector<Rank> ranks = measured(setting);
  std::vector<double> times_ns, rates;
  for (const Rank& rank : ranks) {
    for (const RankTimes& own : rank.store.times) {
      if (own.from == schedule::no_rank) continue;
      times_ns.push_back(own.time_ns);
      rates.push_back(rate(own.time_ns));
    }
  }
  std::sort(rates.begin(), rates.end());
  const BisectionSummary& size = ranks[0].measured.sizes[0];
  ASSERT_EQ(size.num_connections, rates.size());
  EXPECT_DOUBLE_EQ(size.bytes_per_s_min, rates.front());
  EXPECT_DOUBLE_EQ(size.bytes_per_s_max, rates.back());
  EXPECT_DOUBLE_EQ(size.bytes_per_s_p01, stats::quantile_of_sorted(rates, 0.01));
  EXPECT_DOUBLE_EQ(size.bytes_per_s_p05, stats::quantile_of_sorted(rates, 0.05));
  EXPECT_DOUBLE_EQ(size.bytes_per_s_median, stats::quantile_of_sorted(rates, 0.5));
  double sum_ns = 0;
  for (const double time_ns : times_ns) sum_ns += time_ns;
  EXPECT_NEAR(size.bytes_per_s_harmonic / rate(sum_ns / static_cast<double>(times_ns.size())), 1, 1e-12);
  ASSERT_THAT(size.buckets, SizeIs(4));
  for (std::size_t i = 0; i < 4; ++i) {
    const TimeBucket& bucket = size.buckets[i];
    const auto num = std::count_if(times_ns.begin(), times_ns.end(), [&](double time_ns) {
      return time_ns >= bucket.low_ns && (time_ns < bucket.high_ns || (i == 3 && time_ns == bucket.high_ns));
    });
    EXPECT_EQ(bucket.num, static_cast<std::uint64_t>(num));
  }
  EXPECT_EQ(size.buckets[0].low_ns, *std::min_element(times_ns.begin(), times_ns.end()));
  EXPECT_EQ(size.buckets[3].high_ns, *std::max_element(times_ns.begin(), times_ns.end()));
  std::vector<double> baseline;
  for (const BaselineSample& sample : ranks[0].measured.baseline) baseline.push_back(rate(sample.time_ns));
  EXPECT_NEAR(size.baseline.mean / stats::mean_interval(baseline).mean, 1, 1e-12);
  EXPECT_NEAR(size.baseline.half_width / stats::mean_interval(baseline).half_width, 1, 1e-9);
  std::vector<stats::PairedSample> pairs;
  for (const BaselineSample& sample : ranks[0].measured.baseline) {
    const auto in_pattern = [&](std::int32_t end) {
      return rate(ranks[static_cast<std::size_t>(end)].store.times[sample.number].time_ns);
    };
    const double together = (in_pattern(sample.from) + in_pattern(sample.to)) / 2;
    const double of_all = ranks[0].measured.patterns[sample.number].bytes_per_s_mean;
    pairs.push_back({together, rate(sample.time_ns), together - of_all});
  }
  EXPECT_NEAR(size.contention_share.mean / stats::paired_ratio_interval(pairs).mean, 1, 1e-12);
  EXPECT_NEAR(size.contention_share.half_width / stats::paired_ratio_interval(pairs).half_width, 1, 1e-9);
  EXPECT_NEAR(size.static_share.mean / (size.baseline.mean / *std::ranges::max_element(baseline)), 1, 1e-12);
  EXPECT_DOUBLE_EQ(size.tail, size.bytes_per_s_median / size.bytes_per_s_p01);
}

// Over a transport that does as it is told: loads that are uneven within a pattern, or unlike those of a pair alone.

Setting scripted(int num_ranks, ScriptedTransport::TimeNs time_ns) {
  Setting setting;
  setting.host_of = hosts_of(num_ranks, 1);
  setting.time_ns = std::move(time_ns);
  setting.request.message_sizes_bytes = {1000};
  setting.request.num_exchanges = 4;
  setting.request.rounds = 20;
  setting.request.precision = 0;
  setting.request.time_limit_s = 0;
  return setting;
}

TEST(BisectionNumbers, FullLoadCountsUntilTheFirstIsDone) {
  // Ranks 0 and 2 take 100 each time; 1 and 3 take 500 once, while all are under way, then 100.
  Setting setting =
      scripted(4, [](int rank, std::uint64_t exchange, int) { return rank % 2 == 1 && exchange == 0 ? 500 : 100; });
  setting.request.patterns = {"halves"};
  const std::vector<Rank> ranks = measured(setting);
  const PatternSummary& pattern = ranks[0].measured.patterns.at(0);
  // The first are done after 400: by then the others have done 0.8 of an exchange.
  EXPECT_DOUBLE_EQ(ranks[0].store.times[0].full_load_time_ns, 100);
  EXPECT_DOUBLE_EQ(ranks[1].store.times[0].full_load_time_ns, 500);
  EXPECT_DOUBLE_EQ(ranks[1].store.times[0].time_ns, 200);
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_full_load, (rate(100) + rate(500)) / 2);
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_mean, (rate(100) + rate(200)) / 2);
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_harmonic, rate(150));
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_min, rate(200));
  EXPECT_DOUBLE_EQ(pattern.bytes_per_s_max, rate(100));
  EXPECT_EQ(pattern.slowest_from, 1);
  EXPECT_EQ(pattern.slowest_to, 3);  // 3 -> 1 takes as long, and comes later
}

TEST(BisectionNumbers, WhatIsSlowOnlyTogetherIsNotSlowAlone) {
  const auto time_ns = [](int, std::uint64_t, int num_active) { return num_active > 2 ? 200 : 100; };
  const Measured all = measured(scripted(6, time_ns))[0].measured;
  const BisectionSummary& size = all.sizes[0];
  EXPECT_DOUBLE_EQ(size.ebb.mean, rate(200));
  EXPECT_DOUBLE_EQ(size.baseline.mean, rate(100));
  EXPECT_NEAR(size.contention_share.mean, 0.5, 1e-12);
  EXPECT_THAT(all.slow_connections, SizeIs(10));
  for (const SlowConnection& connection : all.slow_connections) {
    EXPECT_DOUBLE_EQ(connection.time_ns, 200);
    EXPECT_DOUBLE_EQ(connection.alone_time_ns, 100);
    EXPECT_FALSE(connection.slow_alone);
  }
}

TEST(BisectionNumbers, WithoutABaselineTheMedianConnectionIsTheMeasure) {
  Setting setting = scripted(6, [](int rank, std::uint64_t, int) { return rank == 5 ? 300 : 100; });
  setting.request.num_baseline_pairs = 0;
  const Measured all = measured(setting)[0].measured;
  EXPECT_THAT(all.baseline, IsEmpty());
  EXPECT_TRUE(std::isnan(all.sizes[0].baseline.mean));
  EXPECT_TRUE(std::isnan(all.sizes[0].contention_share.mean));
  ASSERT_THAT(all.slow_connections, SizeIs(10));
  EXPECT_EQ(all.slow_connections[0].to, 5);
  EXPECT_DOUBLE_EQ(all.slow_connections[0].alone_time_ns, 200);  // both ends' mean
  EXPECT_TRUE(all.slow_connections[0].slow_alone);
  EXPECT_FALSE(all.slow_connections[9].slow_alone);
}

}  // namespace
}  // namespace leadline::bench::bisection
