// SPDX-License-Identifier: Apache-2.0
// The congestion test's measuring stage over TCP between threads: what rounds leave behind. Times are not looked at.
#include "bench/congestion/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/error.hpp"
#include "support/thread_cluster.hpp"
#include "transport/module.hpp"

namespace leadline::bench::congestion {
namespace {

using test::run_on_threads;
using test::ThreadCluster;
using testing::SizeIs;

class NotingStore final : public RoundStore {
 public:
  std::vector<std::uint32_t> rounds;
  std::vector<RoundNumbers> tests;
  std::vector<LoadNumbers> loads;
  std::vector<Distribution> distributions;  ///< of the last round
  std::vector<VictimNumbers> own;           ///< likewise
  bool fails = false;

  void write(const RoundRow& row) override {
    if (fails) throw Error(ExitStatus::run_failed, "the disk is full");
    rounds.push_back(row.round);
    tests.insert(tests.end(), row.tests.begin(), row.tests.end());
    loads.insert(loads.end(), row.loads.begin(), row.loads.end());
    distributions.assign(row.distributions.begin(), row.distributions.end());
    own.assign(row.own.begin(), row.own.end());
  }
};

struct Rank {
  NotingStore store;
  Measured measured;
  std::string error;
};

struct Setting {
  CongestionRequest request;
  std::vector<std::uint32_t> host_of{0, 1, 2, 3, 4};
  network::Network network{};
  int store_fails_on = -1;

  Setting() {
    request.rounds = 2;
    request.test_time_s = 0.01;
    request.interval_s = 0.0005;
    request.message_sizes_bytes = {4096};
    request.load_size_bytes = 4096;
    request.intensities = {"0", "50", "100"};
    request.loads = {"incast", "complete"};
    request.wait = WaitMode::yield;
  }

  Plan planned() const {
    return plan(request, {static_cast<int>(host_of.size()), 1, host_of}, std::vector<bool>(host_of.size(), false));
  }
};

std::vector<Rank> measured(const Setting& setting) {
  std::vector<Rank> ranks(setting.host_of.size());
  run_on_threads(setting.host_of, [&](ThreadCluster& cluster) {
    Rank& own = ranks[static_cast<std::size_t>(cluster.rank())];
    own.store.fails = setting.store_fails_on == cluster.rank();
    const Plan plan = setting.planned();
    MessageMemory memory(setting.request);
    const auto module = transport::open_module("tcp");
    const auto transport = module->open({.rank = cluster.rank(),
                                         .size = cluster.size(),
                                         .host_of = cluster.host_of(),
                                         .rendezvous = cluster,
                                         .wait = WaitMode::yield,
                                         .settings = {"tcp", module->settings, {}, {}},
                                         .interface = {},
                                         .progress_counter = cluster.progress_counter()});
    try {
      measure({setting.request, plan, setting.network, cluster, *transport, memory, own.store}, own.measured);
    } catch (const Error& error) {
      own.error = error.problem();
    }
    cluster.barrier();
  });
  return ranks;
}

TEST(CongestionMeasure, EveryCellHasEveryTestInEveryRound) {
  const Setting setting;
  const std::vector<Rank> ranks = measured(setting);
  const Plan plan = setting.planned();
  ASSERT_THAT(plan.cells, SizeIs(5));
  const NotingStore& store = ranks[0].store;
  EXPECT_THAT(store.rounds, testing::ElementsAre(0, 1));
  ASSERT_THAT(store.tests, SizeIs(2 * 5 * num_tests));
  for (std::size_t i = 0; i < store.tests.size(); ++i) {
    for (const Times& times : {store.tests[i].alone, store.tests[i].loaded}) {
      // On a busy machine a stream may have too few messages.
      if (times.num == 0 && i % num_tests == static_cast<std::size_t>(congestion::Test::bandwidth)) continue;
      EXPECT_GT(times.mean, 0);
      EXPECT_LE(times.mean, times.max);
    }
  }
  ASSERT_THAT(store.loads, SizeIs(2 * 5));
  double bytes_per_s = 0;
  for (std::size_t i = 0; i < store.loads.size(); ++i) {
    bytes_per_s += store.loads[i].bytes_per_s;
    EXPECT_TRUE(plan.cells[i % 5].load >= 0 || store.loads[i].bytes_per_s == 0);
    EXPECT_FALSE(store.loads[i].fairness > 1);
  }
  EXPECT_GT(bytes_per_s, 0);
  EXPECT_EQ(ranks[0].measured.num_rounds, 2u);
  const std::vector<Impact> impacts = impacts_of(setting.request, plan, ranks[0].measured);
  EXPECT_GE(impacts.size(), 5 * (num_tests - 1));
  for (const Impact& impact : impacts) {
    EXPECT_EQ(impact.shared, Shared::all) << "all share the same with the load, so it is told once";
    if (impact.test == congestion::Test::bandwidth) continue;
    EXPECT_EQ(impact.num_rounds, 2u);
    EXPECT_TRUE(std::isfinite(impact.mean.estimate));
  }
}

TEST(CongestionMeasure, VictimsHaveTheirOwnTimesAndRankZeroTheSum) {
  const Setting setting;
  const std::vector<Rank> ranks = measured(setting);
  const Plan plan = setting.planned();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bool is_victim = plan.is_victim(static_cast<int>(rank));
    EXPECT_THAT(ranks[rank].store.own, SizeIs(is_victim ? 5 * num_tests : 0));
    EXPECT_THAT(ranks[rank].store.tests, SizeIs(rank == 0 ? 2 * 5 * num_tests : 0));
  }
  for (std::size_t index = 0; index < 5 * num_tests; ++index) {
    std::uint64_t of_victims = 0;
    for (const std::int32_t victim : plan.roles.victims) {
      of_victims += ranks[static_cast<std::size_t>(victim)].store.own[index].loaded.num;
    }
    const auto& loaded = ranks[0].store.distributions[index].loaded;
    EXPECT_EQ(std::accumulate(loaded.begin(), loaded.end(), std::uint64_t{0}), of_victims);
  }
}

TEST(CongestionMeasure, LoadsAreMeasuredAloneWhereTheyHavePauses) {
  Setting setting;
  setting.request.loads = {"random"};
  std::vector<Rank> ranks = measured(setting);
  const auto loads = loads_of(setting.request, setting.planned(), ranks[0].measured);
  ASSERT_THAT(loads, SizeIs(2));
  EXPECT_GE(loads[0].alone_bytes_per_s, 0);
  EXPECT_EQ(loads[0].num_rounds, 2u);
  setting.request.intensities = {"100"};
  ranks = measured(setting);
  EXPECT_TRUE(std::isnan(loads_of(setting.request, setting.planned(), ranks[0].measured)[0].alone_bytes_per_s));
}

TEST(CongestionMeasure, TellsApartWhatIsSharedWithTheLoad) {
  Setting setting;
  setting.request.rounds = 6;
  setting.request.intensities = {"100"};
  setting.request.loads = {"bisection"};
  setting.host_of = {0, 0, 1, 1, 2, 2};  // three hosts: victims are ranks
  setting.request.victims = 0.7;
  const std::vector<Rank> ranks = measured(setting);
  const std::vector<Impact> impacts = impacts_of(setting.request, setting.planned(), ranks[0].measured);
  std::uint64_t of_all = 0, of_parts = 0;
  for (const Impact& impact : impacts) {
    if (impact.test != congestion::Test::latency) continue;
    (impact.shared == Shared::all ? of_all : of_parts) += impact.loaded.num;
    EXPECT_NE(impact.shared, Shared::leaf) << "no network is known";
  }
  EXPECT_GT(of_all, 0u);
  EXPECT_TRUE(of_parts == 0 || of_parts == of_all);
}

TEST(CongestionMeasure, WithANetworkSaysWhatTheOnlyPartShares) {
  Setting setting;
  setting.request.intensities = {"100"};
  setting.request.topology = "the network below";
  const Plan plan = setting.planned();
  for (const bool is_shared : {true, false}) {
    network::Level leaves{"leaf switch", {"one", "two"}, {}};
    for (std::int32_t rank = 0; rank < 5; ++rank) leaves.group_of.push_back(!is_shared && plan.is_victim(rank) ? 1 : 0);
    setting.network.levels = {leaves};
    const std::vector<Rank> ranks = measured(setting);
    std::set<Shared> parts;
    for (const Impact& impact : impacts_of(setting.request, plan, ranks[0].measured)) parts.insert(impact.shared);
    EXPECT_THAT(parts, testing::ElementsAre(Shared::all, is_shared ? Shared::leaf : Shared::further));
  }
}

TEST(CongestionMeasure, AFullDiskEndsTheRunOnAllRanks) {
  Setting setting;
  setting.store_fails_on = 3;
  for (const Rank& rank : measured(setting)) EXPECT_EQ(rank.error, "the disk is full");
}

TEST(CongestionRecovery, LastsUntilNoBinIsLongAnyMore) {
  Recovery recovery;
  EXPECT_TRUE(std::isnan(recovery.until())) << "nothing was measured";
  recovery.num.fill(100);
  EXPECT_EQ(recovery.until(), 0);
  recovery.num_long[0] = 90;
  recovery.num_long[4] = 26;
  recovery.num_long[9] = 24;  // within what chance does
  EXPECT_DOUBLE_EQ(recovery.until(), 5.0 / Recovery::num_bins);
  recovery.num_long.back() = 100;
  EXPECT_TRUE(std::isnan(recovery.until())) << "it lasts longer";
}

TEST(CongestionTotals, AreTheSameBehindTheirWay) {
  PhaseTotals one, other;
  one.times[0][1].add(1000);
  one.times[2][0].add(5e6);
  one.load.add(7);
  one.recovery.num[3] = 4;
  other.times[0][1].add(3000);
  other.recovery.num_long[3] = 2;
  PhaseTotals both = PhaseTotals::unpacked(one.packed());
  both.merge(PhaseTotals::unpacked(other.packed()));
  EXPECT_EQ(both.times[0][1].num(), 2u);
  EXPECT_EQ(both.times[0][1].max_ns(), 3000);
  EXPECT_EQ(both.times[2][0].sum_ns(), 5e6);
  EXPECT_EQ(both.times[1][2].num(), 0u);
  EXPECT_EQ(both.load.num, 1u);
  EXPECT_EQ(both.recovery.num[3], 4u);
  EXPECT_EQ(both.recovery.num_long[3], 2u);
}

}  // namespace
}  // namespace leadline::bench::congestion
