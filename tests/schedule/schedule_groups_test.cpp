// SPDX-License-Identifier: Apache-2.0
// Bisections, hosts and participants by hand: small tables in full, what is refused, and a million ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <numeric>
#include <string>

#include "core/error.hpp"
#include "schedule/schedule.hpp"

namespace leadline::schedule::schedule_groups_test {
namespace {

using testing::ElementsAre;

/// One line a round: "0-4 1-5", the first of a pair leading.
std::vector<std::string> table(const Spec& spec) {
  const Schedule schedule(spec);
  std::vector<std::string> lines;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    std::string line;
    for (const Pair& pair : schedule.pairs(round)) {
      line += (line.empty() ? "" : " ") + std::to_string(pair.first) + "-" + std::to_string(pair.second);
    }
    lines.push_back(line);
  }
  return lines;
}

std::string refusal(const Spec& spec) {
  try {
    const Schedule schedule(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return "accepted";
}

TEST(bisection, of_eight_ranks_has_four_rounds) {
  EXPECT_THAT(table({.num_ranks = 8, .bisection = true}),
              ElementsAre("0-4 1-5 2-6 3-7", "0-5 1-6 2-7 3-4", "0-6 1-7 2-4 3-5", "0-7 1-4 2-5 3-6"));
}

TEST(bisection, of_an_odd_number_has_the_larger_half_first) {
  EXPECT_THAT(table({.num_ranks = 3, .bisection = true}), ElementsAre("0-2", "1-2"));
  EXPECT_THAT(table({.num_ranks = 5, .bisection = true}), ElementsAre("0-3 1-4", "2-3 0-4", "1-3 2-4"));
}

TEST(bisection, serial_is_one_pair_a_round) {
  EXPECT_THAT(table({.num_ranks = 4, .bisection = true, .serial = true}), ElementsAre("0-2", "1-3", "0-3", "1-2"));
}

TEST(bisection, cuts_the_participants_and_not_the_ranks) {
  EXPECT_THAT(table({.num_ranks = 8, .participants = {0, 1, 2, 7}, .bisection = true}),
              ElementsAre("0-2 1-7", "0-7 1-2"));
}

TEST(bisection, of_permuted_ranks_cuts_their_seats) {
  // permutation(8, 1, 0) is 4 2 5 7 6 1 0 3.
  const Schedule schedule({.num_ranks = 8, .bisection = true, .permutation = 0});
  EXPECT_EQ(schedule.pairs(0).at(0), (Pair{4, 6}));
  const Schedule participants({.num_ranks = 8, .participants = {1, 2, 3, 4}, .bisection = true, .permutation = 0});
  EXPECT_EQ(participants.pairs(0).at(0), (Pair{4, 1}));
}

TEST(bisection, needs_two_ranks) {
  EXPECT_EQ(refusal({.num_ranks = 1, .bisection = true}), "a bisection needs two ranks (only one takes part)");
  EXPECT_EQ(refusal({.num_ranks = 8, .participants = {3}, .bisection = true}),
            "a bisection needs two ranks (only one takes part)");
}

TEST(hosts, meet_with_all_their_ranks) {
  const std::vector<std::uint32_t> two{0, 0, 1, 1};
  EXPECT_THAT(table({.num_ranks = 4, .group_of = two}), ElementsAre("0-2 1-3", "0-3 1-2"));
  const std::vector<std::uint32_t> three{0, 0, 1, 1, 2, 2};
  EXPECT_THAT(table({.num_ranks = 6, .group_of = three}),
              ElementsAre("2-4 3-5", "2-5 3-4", "0-4 1-5", "0-5 1-4", "0-2 1-3", "0-3 1-2"));
}

TEST(hosts, are_numbered_by_their_first_rank_wherever_the_others_are) {
  const std::vector<std::uint32_t> groups{9, 4, 9, 4};
  EXPECT_THAT(table({.num_ranks = 4, .group_of = groups}), ElementsAre("0-1 2-3", "0-3 2-1"));
}

TEST(hosts, of_different_sizes_take_as_long_as_the_largest) {
  const std::vector<std::uint32_t> groups{0, 0, 0, 1, 2, 3};
  EXPECT_THAT(table({.num_ranks = 6, .group_of = groups}),
              ElementsAre("0-5 3-4", "2-5", "1-5", "0-4 5-3", "2-4", "1-4", "0-3 4-5", "2-3", "1-3"));
}

TEST(hosts, of_different_sizes_wait_for_no_host_that_rests) {
  const std::vector<std::uint32_t> groups{0, 0, 0, 1, 2};
  EXPECT_THAT(table({.num_ranks = 5, .group_of = groups}),
              ElementsAre("3-4", "0-4", "2-4", "1-4", "0-3", "2-3", "1-3"));
}

TEST(hosts, are_cut_into_halves_by_a_bisection) {
  const std::vector<std::uint32_t> groups{0, 0, 1, 2, 3, 3};
  EXPECT_THAT(table({.num_ranks = 6, .group_of = groups, .bisection = true}),
              ElementsAre("0-3 2-4", "1-3 2-5", "0-4 1-5 2-3", "0-5 1-4"));
}

TEST(hosts, with_one_participant_each_meet_as_ranks_do) {
  const std::vector<std::uint32_t> groups{0, 0, 1, 1, 2, 2, 3, 3};
  const auto lines = table({.num_ranks = 8, .participants = {0, 2, 4, 6}});
  EXPECT_THAT(lines, ElementsAre("0-6 2-4", "0-4 6-2", "0-2 4-6"));
  EXPECT_EQ(table({.num_ranks = 8, .participants = {0, 2, 4, 6}, .group_of = groups}), lines);
}

TEST(hosts, one_alone_has_nobody_to_meet) {
  const std::vector<std::uint32_t> groups{5, 5, 5, 6};
  for (const bool bisection : {false, true}) {
    EXPECT_EQ(refusal({.num_ranks = 3, .group_of = std::span(groups).first(3), .bisection = bisection}),
              "all ranks are on one host, so there is no pair between hosts");
    EXPECT_EQ(refusal({.num_ranks = 4, .participants = {0, 1}, .group_of = groups, .bisection = bisection}),
              "all ranks are on one host, so there is no pair between hosts");
    EXPECT_EQ(refusal({.num_ranks = 4, .group_of = groups, .bisection = bisection}), "accepted");
  }
}

TEST(hosts, need_be_known_only_while_the_schedule_is_made) {
  std::vector<std::uint32_t> groups{0, 1, 0, 1, 2};
  const Schedule schedule({.num_ranks = 5, .group_of = groups, .serial = true});
  const Pair before = schedule.pairs(3).at(0);
  std::ranges::fill(groups, 7);
  EXPECT_EQ(schedule.pairs(3).at(0), before);
}

TEST(participants, alone_meet_themselves) {
  const Schedule schedule({.num_ranks = 4, .participants = {2}});
  ASSERT_EQ(schedule.num_rounds(), 1);
  EXPECT_EQ(schedule.pairing(2, 0)->partner, 2);
  for (const int rank : {0, 1, 3}) EXPECT_FALSE(schedule.pairing(rank, 0).has_value());
}

TEST(chosen_rounds, are_counted_for_the_kind_of_schedule) {
  const std::vector<std::uint32_t> groups{0, 0, 0, 1};
  EXPECT_THAT(table({.num_ranks = 8, .bisection = true, .rounds = {4, 1}}),
              ElementsAre("0-7 1-4 2-5 3-6", "0-4 1-5 2-6 3-7"));
  EXPECT_THAT(refusal({.num_ranks = 8, .bisection = true, .rounds = {5}}), testing::HasSubstr("1 to 4"));
  EXPECT_THAT(refusal({.num_ranks = 4, .group_of = groups, .rounds = {4}}), testing::HasSubstr("1 to 3"));
}

/// Some rounds of a schedule that is too large to walk: both sides of every pair agree.
void check_some_rounds(const Schedule& schedule, std::int64_t num_rounds) {
  ASSERT_EQ(schedule.num_rounds(), num_rounds);
  for (const std::int64_t round : {std::int64_t{0}, num_rounds / 2, num_rounds / 7 * 5, num_rounds - 1}) {
    const std::vector<Pair> pairs = schedule.pairs(round);
    ASSERT_FALSE(pairs.empty());
    for (std::size_t i = 0; i < pairs.size(); i += pairs.size() / 100 + 1) {
      const auto first = schedule.pairing(pairs[i].first, round), second = schedule.pairing(pairs[i].second, round);
      ASSERT_TRUE(first && first->partner == pairs[i].second && first->leads_first);
      ASSERT_TRUE(second && second->partner == pairs[i].first && !second->leads_first);
    }
  }
}

TEST(a_million_ranks, on_hosts_that_are_alike) {
  constexpr std::int64_t num_hosts = 1 << 14, size = 64;
  std::vector<std::uint32_t> groups(num_hosts * size);
  for (std::size_t rank = 0; rank < groups.size(); ++rank) groups[rank] = static_cast<std::uint32_t>(rank / size);
  Spec spec{.num_ranks = static_cast<int>(groups.size()), .group_of = groups};
  check_some_rounds(Schedule(spec), (num_hosts - 1) * size);
  spec.serial = true;
  check_some_rounds(Schedule(spec), (num_hosts - 1) * num_hosts / 2 * size * size);
  spec.bisection = true;
  spec.permutation = 1;
  check_some_rounds(Schedule(spec), num_hosts / 2 * num_hosts / 2 * size * size);
  spec.serial = false;
  check_some_rounds(Schedule(spec), num_hosts / 2 * size);
}

TEST(a_million_ranks, on_hosts_of_which_some_are_smaller) {
  constexpr std::int64_t num_hosts = (1 << 14) + 1, size = 64, num_smaller = 100;
  std::vector<std::uint32_t> groups;
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    groups.insert(groups.end(), host < num_smaller ? host % 3 + 1 : size, host);
  }
  std::int64_t num_pairs = 0;
  for (std::int64_t host = 0, before = 0; host < num_hosts; ++host) {
    const std::int64_t own = host < num_smaller ? host % 3 + 1 : size;
    num_pairs += own * before;
    before += own;
  }
  Spec spec{.num_ranks = static_cast<int>(groups.size()), .group_of = groups};
  check_some_rounds(Schedule(spec), num_hosts * size);
  spec.serial = true;
  spec.permutation = 0;
  check_some_rounds(Schedule(spec), num_pairs);
}

TEST(as_many_ranks_as_an_int_holds, are_cut_into_halves_without_overflow) {
  const std::int64_t half = INT_MAX / 2;
  const Schedule schedule({.num_ranks = INT_MAX, .bisection = true, .serial = true});
  check_some_rounds(schedule, half * (half + 1));
  EXPECT_EQ(Schedule({.num_ranks = INT_MAX, .bisection = true}).num_rounds(), half + 1);
}

}  // namespace
}  // namespace leadline::schedule::schedule_groups_test
