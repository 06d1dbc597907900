// SPDX-License-Identifier: Apache-2.0
// Randomly sampled rounds: for many sizes and layouts of hosts nobody has two pairings, both sides agree, and near and
// far rounds take turns.
#include "schedule/sampled_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"

namespace leadline::schedule {
namespace {

using Hosts = std::vector<std::uint32_t>;
using RankPair = std::pair<std::int32_t, std::int32_t>;

/// Host 0 has sizes[0] ranks, and so on; ranks of a host are neighbours.
Hosts blocks(const std::vector<std::size_t>& sizes) {
  Hosts host_of;
  for (std::uint32_t host = 0; host < sizes.size(); ++host) host_of.insert(host_of.end(), sizes[host], host);
  return host_of;
}

Hosts alike(std::size_t num_hosts, std::size_t ranks_a_host) {
  return blocks(std::vector<std::size_t>(num_hosts, ranks_a_host));
}

/// Ranks dealt out one by one.
Hosts cyclic(std::size_t num_hosts, std::size_t num_ranks) {
  Hosts host_of;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) host_of.push_back(static_cast<std::uint32_t>(rank % num_hosts));
  return host_of;
}

/// `size` hosts of consecutive numbers in each group.
std::vector<std::uint32_t> groups_of(std::size_t num_hosts, std::size_t size) {
  std::vector<std::uint32_t> groups;
  for (std::size_t host = 0; host < num_hosts; ++host) groups.push_back(static_cast<std::uint32_t>(host / size));
  return groups;
}

struct Layout {
  std::string name;
  Hosts host_of;
  std::vector<std::vector<std::uint32_t>> groups{};
};

std::vector<Layout> layouts() {
  std::vector<Layout> all{
      {"unequal", blocks({3, 1, 4, 1, 5, 9, 2})},
      {"one of many", blocks({17, 1, 1, 1})},
      {"cyclic", cyclic(5, 23)},
      {"leaves", alike(12, 4), {groups_of(12, 4)}},
      {"leaves and pods", alike(12, 2), {groups_of(12, 2), groups_of(12, 6)}},
      {"odd leaves", blocks({2, 3, 2, 3, 2, 3, 2}), {groups_of(7, 3)}},
      {"routers of one host", alike(6, 2), {groups_of(6, 1), groups_of(6, 3)}},
      {"one rank a host, leaves", alike(9, 1), {groups_of(9, 3)}},
  };
  for (std::size_t num_hosts = 1; num_hosts <= 9; ++num_hosts) {
    for (std::size_t ranks_a_host = 1; ranks_a_host <= 5; ++ranks_a_host) {
      all.push_back({std::to_string(num_hosts) + " x " + std::to_string(ranks_a_host), alike(num_hosts, ranks_a_host)});
    }
  }
  return all;
}

SampledRounds rounds_of(const Layout& layout, std::int64_t num_rounds = 40, std::uint64_t seed = 1) {
  return {layout.host_of, {num_rounds, seed, layout.groups}};
}

std::uint32_t host_of(const Layout& layout, std::int32_t rank) {
  return layout.host_of[static_cast<std::size_t>(rank)];
}

/// The pairs of a round, the lower rank first.
std::set<RankPair> pairs_of(const SampledRounds& rounds, std::int64_t round) {
  std::set<RankPair> pairs;
  for (const auto& pair : rounds.pairs(round)) pairs.insert(std::minmax(pair.leader, pair.other));
  return pairs;
}

TEST(sampled_rounds, have_nobody_twice_and_nobody_alone) {
  for (const Layout& layout : layouts()) {
    const SampledRounds rounds = rounds_of(layout);
    for (std::int64_t round = 0; round < rounds.num_rounds(); ++round) {
      std::vector<int> pairings(layout.host_of.size(), 0);
      for (const auto& pair : rounds.pairs(round)) {
        ASSERT_NE(pair.leader, pair.other) << layout.name;
        ++pairings.at(static_cast<std::size_t>(pair.leader));
        ++pairings.at(static_cast<std::size_t>(pair.other));
      }
      ASSERT_LE(*std::max_element(pairings.begin(), pairings.end()), 1) << layout.name << ", round " << round;
    }
  }
}

TEST(sampled_rounds, are_the_same_from_each_seat_as_from_above) {
  for (const Layout& layout : layouts()) {
    const SampledRounds rounds = rounds_of(layout);
    for (std::int64_t round = 0; round < rounds.num_rounds(); ++round) {
      const auto pairs = rounds.pairs(round);
      std::size_t num_seated = 0;
      for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(layout.host_of.size()); ++rank) {
        num_seated += rounds.seat(rank, round) ? 1U : 0U;
      }
      EXPECT_EQ(num_seated, 2 * pairs.size()) << layout.name << ", round " << round;
      for (const auto& pair : pairs) {
        const auto leader = rounds.seat(pair.leader, round), other = rounds.seat(pair.other, round);
        ASSERT_TRUE(leader && other) << layout.name << ", round " << round;
        EXPECT_TRUE(leader->partner == pair.other && leader->leads) << layout.name;
        EXPECT_TRUE(other->partner == pair.leader && !other->leads) << layout.name;
      }
    }
  }
}

TEST(sampled_rounds, keep_to_their_kind) {
  for (const Layout& layout : layouts()) {
    const SampledRounds rounds = rounds_of(layout);
    for (std::int64_t round = 0; round < rounds.num_rounds(); ++round) {
      // A pair inside its host makes it a round inside hosts, for all.
      std::size_t num_inside = 0;
      const auto pairs = rounds.pairs(round);
      for (const auto& pair : pairs) num_inside += host_of(layout, pair.leader) == host_of(layout, pair.other);
      EXPECT_TRUE(num_inside == 0 || num_inside == pairs.size()) << layout.name << ", round " << round;
    }
  }
}

TEST(sampled_rounds, let_one_host_meet_one_other) {
  for (const Layout& layout : layouts()) {
    const SampledRounds rounds = rounds_of(layout);
    for (std::int64_t round = 0; round < rounds.num_rounds(); ++round) {
      std::vector<std::set<std::uint32_t>> met(layout.host_of.size());
      for (const auto& pair : rounds.pairs(round)) {
        const std::uint32_t host = host_of(layout, pair.leader), other = host_of(layout, pair.other);
        met[host].insert(other);
        met[other].insert(host);
      }
      for (const auto& others : met) ASSERT_LE(others.size(), 1U) << layout.name << ", round " << round;
    }
  }
}

/// "any", "leaf", "pod", "host": the narrowest that all pairs of a round have in common.
std::string kind_of(const Layout& layout, const SampledRounds& rounds, std::int64_t round) {
  const auto pairs = rounds.pairs(round);
  const auto all_within = [&](const std::vector<std::uint32_t>& groups) {
    return std::ranges::all_of(pairs, [&](const auto& pair) {
      return groups[host_of(layout, pair.leader)] == groups[host_of(layout, pair.other)];
    });
  };
  if (std::ranges::all_of(
          pairs, [&](const auto& pair) { return host_of(layout, pair.leader) == host_of(layout, pair.other); })) {
    return "host";
  }
  for (std::size_t level = 0; level < layout.groups.size(); ++level) {
    if (all_within(layout.groups[level])) return level == 0 ? "leaf" : "pod";
  }
  return "any";
}

std::vector<std::string> kinds(const Layout& layout, std::int64_t num_rounds) {
  const SampledRounds rounds = rounds_of(layout, num_rounds);
  std::vector<std::string> kinds;
  for (std::int64_t round = 0; round < num_rounds; ++round) kinds.push_back(kind_of(layout, rounds, round));
  return kinds;
}

TEST(kinds_of_rounds, take_turns) {
  using testing::ElementsAre;
  const std::size_t num = 64;  // hosts, so many that no round is within groups by chance
  const Layout plain{"plain", alike(num, 2)};
  EXPECT_THAT(kinds(plain, 8), ElementsAre("any", "any", "host", "any", "any", "any", "host", "any"));
  const Layout leaves{"leaves", alike(num, 2), {groups_of(num, 4)}};
  EXPECT_THAT(kinds(leaves, 6), ElementsAre("any", "leaf", "any", "host", "any", "any"));
  const Layout pods{"pods", alike(num, 2), {groups_of(num, 4), groups_of(num, 16)}};
  EXPECT_THAT(kinds(pods, 7), ElementsAre("any", "leaf", "any", "host", "any", "pod", "any"));
  const Layout single{"one rank a host", alike(num, 1), {groups_of(num, 4)}};
  EXPECT_THAT(kinds(single, 4), ElementsAre("any", "leaf", "any", "any"));
  const Layout one{"one host", alike(1, 8)};
  EXPECT_THAT(kinds(one, 3), ElementsAre("host", "host", "host"));
}

TEST(kinds_of_rounds, leave_out_levels_that_say_nothing) {
  const std::size_t num = 64;
  const Layout torus{"a host a router, one group of all", alike(num, 1), {groups_of(num, 1), groups_of(num, num)}};
  const SampledRounds rounds = rounds_of(torus, 12);
  for (std::int64_t round = 0; round < 12; ++round) EXPECT_EQ(rounds.pairs(round).size(), num / 2) << round;
}

TEST(sampled_rounds, follow_from_the_seed) {
  for (const Layout& layout : layouts()) {
    const SampledRounds one = rounds_of(layout), longer = rounds_of(layout, 80), other = rounds_of(layout, 40, 2);
    bool differs = false;
    for (std::int64_t round = 0; round < 40; ++round) {
      EXPECT_EQ(pairs_of(one, round), pairs_of(longer, round)) << "a longer run begins as a shorter one does";
      differs = differs || pairs_of(one, round) != pairs_of(other, round);
    }
    EXPECT_TRUE(differs || layout.host_of.size() <= 4) << layout.name;
  }
}

std::size_t num_pairs_met(const Layout& layout, std::int64_t num_rounds) {
  const SampledRounds rounds = rounds_of(layout, num_rounds);
  std::set<RankPair> met;
  for (std::int64_t round = 0; round < num_rounds; ++round) met.merge(pairs_of(rounds, round));
  return met.size();
}

TEST(sampled_rounds, meet_more_and_more_pairs_until_all_have_met) {
  for (const Layout& layout : layouts()) {
    const std::size_t num = layout.host_of.size(), all = num * (num - 1) / 2;
    const std::size_t few = num_pairs_met(layout, 6), more = num_pairs_met(layout, 30);
    if (num >= 16) {
      EXPECT_LT(few, more) << layout.name;
    }
    EXPECT_LE(few, more) << layout.name;
    EXPECT_EQ(num_pairs_met(layout, 4000), all) << layout.name;
  }
}

TEST(sampled_rounds, let_all_hosts_meet_about_as_many_others) {
  constexpr std::int64_t num_rounds = 64;
  for (const std::size_t num_hosts : {32U, 33U, 64U}) {
    for (const std::size_t ranks_a_host : {1U, 4U}) {
      const Layout layout{"", alike(num_hosts, ranks_a_host), {groups_of(num_hosts, 8)}};
      const SampledRounds rounds = rounds_of(layout, num_rounds);
      std::vector<std::set<std::uint32_t>> met(num_hosts);
      for (std::int64_t round = 0; round < num_rounds; ++round) {
        for (const auto& pair : rounds.pairs(round)) {
          const std::uint32_t host = host_of(layout, pair.leader), other = host_of(layout, pair.other);
          if (host == other) continue;
          met[host].insert(other);
          met[other].insert(host);
        }
      }
      std::size_t least = num_hosts, most = 0;
      for (const auto& others : met) least = std::min(least, others.size()), most = std::max(most, others.size());
      EXPECT_GT(least, num_hosts / 3) << num_hosts << " hosts";
      EXPECT_LE(most - least, num_hosts / 3) << num_hosts << " hosts";
    }
  }
}

TEST(sampled_rounds, are_what_the_schedule_hands_out) {
  const Layout layout{"", blocks({3, 2, 4}), {}};
  Spec spec{.num_ranks = 9};
  spec.host_of = layout.host_of;
  spec.sample = Sample{10, 5, {}};
  const Schedule schedule(spec);
  const SampledRounds rounds = rounds_of(layout, 10, 5);
  ASSERT_EQ(schedule.num_rounds(), 10);
  for (std::int64_t round = 0; round < 10; ++round) {
    EXPECT_EQ(schedule.number_of(round), round + 1);
    EXPECT_EQ(schedule.pairs(round).size(), rounds.pairs(round).size());
    for (std::int32_t rank = 0; rank < 9; ++rank) {
      const auto pairing = schedule.pairing(rank, round);
      const auto seat = rounds.seat(rank, round);
      ASSERT_EQ(pairing.has_value(), seat.has_value());
      if (seat) {
        EXPECT_TRUE(pairing->partner == seat->partner && pairing->leads_first == seat->leads);
      }
    }
  }
}

/// Files of this way of drawing have nothing else that says who met whom. Where this fails, the way has another number.
TEST(sampled_rounds, are_those_that_files_were_written_with) {
  EXPECT_EQ(way_of_drawing, 1);
  const std::vector<std::uint32_t> hosts = alike(6, 2);
  const SampledRounds rounds(hosts, {8, 1, {groups_of(6, 2)}});
  const std::vector<std::vector<std::int32_t>> expected{
      {2, 3, 0, 1, 8, 9, 10, 11, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9},
      {5, 4, 11, 10, 1, 0, 9, 8, 7, 6, 3, 2}, {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10},
      {10, 11, 6, 7, 8, 9, 2, 3, 4, 5, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0, 11, 10, 9, 8},
      {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}, {10, 11, 4, 5, 2, 3, 8, 9, 6, 7, 0, 1}};
  const std::vector<std::int32_t> partners = partners_by_round(rounds, hosts.size(), 8);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    for (std::size_t round = 0; round < 8; ++round) {
      EXPECT_EQ(partners[8 * rank + round], expected[round][rank]) << "rank " << rank << ", round " << round;
    }
  }
}

TEST(sampled_rounds, say_by_rank_who_rests) {
  const std::vector<std::uint32_t> hosts = blocks({3});
  const auto partners = partners_by_round(SampledRounds(hosts, {2, 1, {}}), 3, 2);
  EXPECT_EQ(std::ranges::count(partners, -1), 2);
}

TEST(sampled_rounds, of_a_million_ranks_agree) {
  constexpr std::size_t num_hosts = 1 << 17, ranks_a_host = 8;
  const Layout layout{"", alike(num_hosts, ranks_a_host), {groups_of(num_hosts, 32), groups_of(num_hosts, 1024)}};
  const SampledRounds rounds = rounds_of(layout, 8);
  for (const std::int64_t round : {0, 1, 3, 5}) {
    const auto pairs = rounds.pairs(round);
    ASSERT_EQ(pairs.size(), num_hosts * ranks_a_host / 2);
    for (const std::size_t index : {std::size_t{0}, pairs.size() - 1}) {
      EXPECT_EQ(rounds.seat(pairs[index].leader, round)->partner, pairs[index].other);
      EXPECT_EQ(rounds.seat(pairs[index].other, round)->partner, pairs[index].leader);
    }
  }
}

}  // namespace
}  // namespace leadline::schedule
