// SPDX-License-Identifier: Apache-2.0
// Who measures and who loads: all small numbers of ranks and hosts; channels whose ends fit together.
#include "bench/congestion/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.hpp"

namespace leadline::bench::congestion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint32_t> hosts_of(int num_ranks, int ranks_per_host) {
  std::vector<std::uint32_t> host_of;
  for (int rank = 0; rank < num_ranks; ++rank) host_of.push_back(static_cast<std::uint32_t>(rank / ranks_per_host));
  return host_of;
}

struct Planned {
  std::vector<std::uint32_t> host_of;
  CongestionRequest request;
  Plan plan;

  Planned(int num_ranks, int ranks_per_host, CongestionRequest asked = {}, std::set<int> absent = {})
      : host_of(hosts_of(num_ranks, ranks_per_host)), request(std::move(asked)) {
    std::vector<bool> is_absent(host_of.size(), false);
    for (const int rank : absent) is_absent[static_cast<std::size_t>(rank)] = true;
    plan = congestion::plan(request, {num_ranks, ranks_per_host, host_of}, is_absent);
  }

  std::set<std::uint32_t> hosts(const std::vector<std::int32_t>& ranks) const {
    std::set<std::uint32_t> hosts;
    for (const std::int32_t rank : ranks) hosts.insert(host_of[static_cast<std::size_t>(rank)]);
    return hosts;
  }
};

TEST(CongestionPlan, EveryRankHasOneRoleAndAtLeastTwoHaveEach) {
  for (int ranks_per_host = 1; ranks_per_host <= 4; ++ranks_per_host) {
    for (int num_ranks = 4; num_ranks <= 40; ++num_ranks) {
      for (const double share : {0.001, 0.2, 0.5, 1.0}) {
        CongestionRequest request;
        request.victims = share;
        const Planned planned(num_ranks, ranks_per_host, request);
        const Roles& roles = planned.plan.roles;
        EXPECT_GE(roles.victims.size(), 2u);
        EXPECT_GE(roles.load.size(), 2u);
        std::vector<std::int32_t> all = roles.victims;
        all.insert(all.end(), roles.load.begin(), roles.load.end());
        std::ranges::sort(all);
        ASSERT_EQ(all.size(), static_cast<std::size_t>(num_ranks));
        for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<std::int32_t>(i));
        if (!roles.victims_are_hosts) continue;
        for (const std::uint32_t host : planned.hosts(roles.victims)) {
          EXPECT_FALSE(planned.hosts(roles.load).contains(host));
        }
      }
    }
  }
}

TEST(CongestionPlan, TakesTheShareOfHosts) {
  const Planned planned(40, 4);
  EXPECT_TRUE(planned.plan.roles.victims_are_hosts);
  EXPECT_EQ(planned.hosts(planned.plan.roles.victims).size(), 2u);
  EXPECT_EQ(planned.plan.roles.victims.size(), 8u);
}

TEST(CongestionPlan, HostsThatAreSharedHaveOneVictimEachAsLongAsThatLasts) {
  CongestionRequest request;
  request.share_hosts = true;
  const Planned planned(40, 4, request);
  EXPECT_FALSE(planned.plan.roles.victims_are_hosts);
  EXPECT_EQ(planned.plan.roles.victims.size(), 8u);
  EXPECT_EQ(planned.hosts(planned.plan.roles.victims).size(), 8u);
}

TEST(CongestionPlan, OtherSeedsDrawOtherVictims) {
  std::set<std::vector<std::int32_t>> drawn;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CongestionRequest request;
    request.seed = seed;
    drawn.insert(Planned(40, 4, request).plan.roles.victims);
    EXPECT_EQ(Planned(40, 4, request).plan.roles.victims, Planned(40, 4, request).plan.roles.victims);
  }
  EXPECT_GT(drawn.size(), 10u);
}

TEST(CongestionPlan, AbsentRanksHaveNoRole) {
  const Planned planned(7, 2, {}, {1, 4});
  for (const std::int32_t rank : {1, 4}) {
    EXPECT_EQ(std::ranges::count(planned.plan.roles.victims, rank), 0);
    EXPECT_EQ(std::ranges::count(planned.plan.roles.load, rank), 0);
  }
}

TEST(CongestionPlan, RefusesTooFewRanks) {
  try {
    Planned(3, 1);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_THAT(error.what(), HasSubstr("at least 4 ranks (two measure while two load the network, and there are 3)"));
  }
}

TEST(CongestionPlan, PairsAreBetweenHostsAndNewEachRound) {
  const Planned planned(64, 4);
  std::set<Pairs> drawn;
  for (std::uint32_t round = 0; round < 10; ++round) {
    const Pairs pairs = victim_pairs(planned.plan, 1, round);
    std::set<std::int32_t> ranks;
    for (const auto& [first, second] : pairs) {
      EXPECT_NE(planned.host_of[static_cast<std::size_t>(first)], planned.host_of[static_cast<std::size_t>(second)]);
      EXPECT_TRUE(planned.plan.is_victim(first));
      EXPECT_TRUE(planned.plan.is_victim(second));
      ranks.insert({first, second});
    }
    EXPECT_EQ(ranks.size(), 2 * pairs.size());
    EXPECT_GE(ranks.size() + 1, planned.plan.roles.victims.size());
    drawn.insert(pairs);
  }
  EXPECT_GT(drawn.size(), 8u);
}

TEST(CongestionPlan, VictimsOfOneHostMeetThere) {
  const Planned planned(4, 4);
  EXPECT_EQ(victim_pairs(planned.plan, 1, 0).size(), 1u);
}

TEST(CongestionPlan, BothEndsOfEveryChannelFitTogether) {
  for (const LoadPattern load :
       {LoadPattern::incast, LoadPattern::complete, LoadPattern::random, LoadPattern::bisection}) {
    for (int num_ranks = 4; num_ranks <= 20; ++num_ranks) {
      const Planned planned(num_ranks, 1);
      for (std::uint32_t round = 0; round < 3; ++round) {
        std::map<std::pair<std::int32_t, std::int32_t>, LoadChannel> channels;
        for (std::int32_t rank = 0; rank < num_ranks; ++rank) {
          for (const LoadChannel& channel : load_channels(planned.plan, load, 1, round, rank)) {
            EXPECT_FALSE(planned.plan.is_victim(rank));
            EXPECT_TRUE(channels.emplace(std::pair(rank, channel.partner), channel).second);
          }
        }
        EXPECT_FALSE(channels.empty());
        for (const auto& [ends, channel] : channels) {
          ASSERT_TRUE(channels.contains({ends.second, ends.first}));
          const LoadChannel& other = channels[{ends.second, ends.first}];
          EXPECT_EQ(other.sends, channel.receives);
          EXPECT_EQ(other.receives, channel.sends);
          EXPECT_TRUE(channel.sends || channel.receives);
        }
      }
    }
  }
}

TEST(CongestionPlan, AnIncastHasOneTarget) {
  const Planned planned(20, 1);
  std::size_t num_targets = 0, num_senders = 0;
  for (std::int32_t rank = 0; rank < 20; ++rank) {
    const auto channels = load_channels(planned.plan, LoadPattern::incast, 1, 0, rank);
    if (channels.size() > 1) ++num_targets;
    if (channels.size() == 1 && channels.front().sends) ++num_senders;
  }
  EXPECT_EQ(num_targets, 1u);
  EXPECT_EQ(num_senders, planned.plan.roles.load.size() - 1);
}

TEST(CongestionPlan, ACellIsALoadWithAnIntensityAndNoLoadComesOnce) {
  CongestionRequest request;
  request.loads = {"incast", "random"};
  request.intensities = {"100%", "0", "50"};
  const Plan plan = Planned(8, 1, request).plan;
  std::vector<std::pair<int, int>> cells;
  for (const Cell& cell : plan.cells) cells.emplace_back(cell.load, cell.intensity_percent);
  EXPECT_THAT(cells,
              ElementsAre(std::pair(-1, 0), std::pair(0, 50), std::pair(0, 100), std::pair(1, 50), std::pair(1, 100)));
  EXPECT_TRUE(plan.has_pauses);
  EXPECT_GT(plan.measuring_s, 0);
}

TEST(CongestionPlan, WhatDriftsEvenlyCancelsOut) {
  const Plan plan = Planned(8, 1).plan;
  // When each cell is alone and loaded, in two rounds one behind the other.
  std::map<std::size_t, int> alone, loaded;
  int now = 0;
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (const std::size_t cell : order_of_cells(plan, round)) {
      (begins_alone(round) ? alone : loaded)[cell] += now++;
      (begins_alone(round) ? loaded : alone)[cell] += now++;
    }
  }
  EXPECT_EQ(alone, loaded);
}

}  // namespace
}  // namespace leadline::bench::congestion
