// SPDX-License-Identifier: Apache-2.0
// Random patterns tried for all small sizes and many spreads over hosts, the frequencies of pairs, and swapped
// partners.
#include "schedule/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace leadline::schedule {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Hosts = std::vector<std::uint32_t>;

/// Host of a rank among so many.
struct Spread {
  const char* name;
  std::function<std::uint32_t(std::uint32_t rank, std::uint32_t num_ranks)> host;
};

const std::vector<Spread>& spreads() {
  static const std::vector<Spread> all{
      {"one each", [](auto rank, auto) { return rank; }},
      {"blocks of four", [](auto rank, auto) { return rank / 4; }},
      {"two blocks", [](auto rank, auto num) { return 2 * rank / num; }},
      {"round robin over five", [](auto rank, auto) { return rank % 5; }},
      {"one host", [](auto, auto) { return 7U; }},
      {"half on one, others alone", [](auto rank, auto num) { return rank < num / 2 ? 0 : rank; }},
      {"most on the last", [](auto rank, auto num) { return rank < num / 3 ? rank : num; }},
      {"all but one on one", [](auto rank, auto) { return rank == 0 ? 1U : 0U; }},
      {"growing",
       [](auto rank, auto) {
         std::uint32_t host = 0;
         for (std::uint32_t begin = 0; begin + host + 1 <= rank; begin += ++host) {
         }
         return host;
       }},
  };
  return all;
}

Hosts hosts_of(const Spread& spread, int num_ranks) {
  Hosts hosts;
  for (int rank = 0; rank < num_ranks; ++rank) {
    hosts.push_back(spread.host(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(num_ranks)));
  }
  return hosts;
}

/// Every rank that is in it has a partner, whose partner it is; so nobody is in it twice.
void expect_matching(const Pattern& pattern, const Participants& participants, std::span<const std::int32_t> ranks) {
  ASSERT_EQ(pattern.send_to.size(), static_cast<std::size_t>(participants.num_ranks));
  for (std::int32_t rank = 0; rank < participants.num_ranks; ++rank) {
    const std::int32_t to = pattern.send_to[static_cast<std::size_t>(rank)];
    if (to == no_rank) continue;
    ASSERT_NE(to, rank);
    ASSERT_TRUE(std::ranges::binary_search(ranks, rank));
    ASSERT_TRUE(std::ranges::binary_search(ranks, to));
    ASSERT_EQ(pattern.send_to[static_cast<std::size_t>(to)], rank);
    if (participants.within_hosts || participants.host_of.empty()) continue;
    ASSERT_NE(participants.host_of[static_cast<std::size_t>(rank)], participants.host_of[static_cast<std::size_t>(to)]);
  }
}

/// Of the complete graph of participants, without the pairs on one host where those are not wanted.
std::int64_t most_pairs(const Participants& participants, std::span<const std::int32_t> ranks) {
  const auto num = static_cast<std::int64_t>(ranks.size());
  if (participants.within_hosts || participants.host_of.empty()) return num / 2;
  std::map<std::uint32_t, std::int64_t> num_of_host;
  std::int64_t fullest = 0;
  for (const std::int32_t rank : ranks) {
    fullest = std::max(fullest, ++num_of_host[participants.host_of[static_cast<std::size_t>(rank)]]);
  }
  return std::min(num / 2, num - fullest);
}

void expect_all_good(const Participants& participants) {
  const std::vector<std::int32_t> ranks = participants_of(participants);
  for (const std::uint64_t index : {0U, 1U, 2U, 3U, 1000U}) {
    const Pattern pattern = random_pattern(participants, ranks, 11, index);
    SCOPED_TRACE(index);
    expect_matching(pattern, participants, ranks);
    ASSERT_EQ(pattern.num_connections(), 2 * most_pairs(participants, ranks));
  }
}

Pattern pattern_of_all(int num_ranks, std::uint64_t seed, std::uint64_t index,
                       std::span<const std::uint32_t> hosts = {}) {
  const Participants participants{num_ranks, hosts};
  return random_pattern(participants, participants_of(participants), seed, index);
}

TEST(participants, are_all_ranks_or_the_lowest_of_each_host) {
  const Hosts hosts{3, 0, 3, 0, 0, 3, 1};
  EXPECT_THAT(participants_of({7, hosts}), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(participants_of({7, hosts, 1}), ElementsAre(0, 1, 6));
  EXPECT_THAT(participants_of({7, hosts, 2}), ElementsAre(0, 1, 2, 3, 6));
  EXPECT_THAT(participants_of({7, hosts, 9}), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(participants_of({3, {}, 1}), ElementsAre(0, 1, 2)) << "each has a host to itself";
}

std::string complaint_about(const Participants& participants) {
  try {
    participants_of(participants);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return {};
}

TEST(participants, of_whom_there_are_fewer_than_two_are_refused) {
  EXPECT_THAT(complaint_about({1, {}}), HasSubstr("1 rank forms no pair (a pair needs two). Start at least 2 ranks"));
  EXPECT_THAT(complaint_about({0, {}}), HasSubstr("0 ranks form no pair"));
  const Hosts one_host{0, 0, 0};
  EXPECT_THAT(complaint_about({3, one_host, 1}), HasSubstr("Let more ranks of a host take part"));
  EXPECT_THAT(complaint_about({3, one_host, 2}), IsEmpty());
}

TEST(random_pattern, is_a_matching_with_as_many_pairs_as_the_hosts_allow) {
  for (int num_ranks = 2; num_ranks <= 64; ++num_ranks) {
    for (const Spread& spread : spreads()) {
      SCOPED_TRACE(testing::Message() << num_ranks << " ranks, " << spread.name);
      const Hosts hosts = hosts_of(spread, num_ranks);
      for (const int per_host : {0, 1, 3}) {
        Participants participants{num_ranks, hosts, per_host};
        if (!complaint_about(participants).empty()) continue;
        expect_all_good(participants);
        participants.within_hosts = true;
        expect_all_good(participants);
      }
      if (HasFatalFailure()) return;
    }
    expect_all_good({num_ranks});
  }
}

TEST(random_pattern, rests_one_of_an_odd_number_and_not_always_the_same) {
  for (int num_ranks = 3; num_ranks <= 63; num_ranks += 2) {
    std::set<std::int64_t> resting;
    for (std::uint64_t index = 0; index < 20; ++index) {
      const Pattern pattern = pattern_of_all(num_ranks, 1, index);
      EXPECT_EQ(std::ranges::count(pattern.send_to, no_rank), 1);
      resting.insert(std::ranges::find(pattern.send_to, no_rank) - pattern.send_to.begin());
    }
    EXPECT_GT(resting.size(), 1u);
  }
}

TEST(random_pattern, depends_on_seed_and_index_alone) {
  for (const std::uint64_t index : {0ULL, 1ULL, 5ULL, 1ULL << 40}) {
    EXPECT_EQ(pattern_of_all(64, 1, index).send_to, pattern_of_all(64, 1, index).send_to);
  }
  std::set<std::vector<std::int32_t>> different;
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, last}) {
    for (std::uint64_t index = 0; index < 50; ++index) different.insert(pattern_of_all(64, seed, index).send_to);
  }
  EXPECT_EQ(different.size(), 200u);
}

TEST(random_pattern, is_what_it_was) {
  EXPECT_THAT(pattern_of_all(8, 1, 0).send_to, ElementsAre(1, 0, 6, 5, 7, 3, 2, 4));
  const Hosts pairs{0, 0, 1, 1, 2, 2, 3, 3};
  EXPECT_THAT(pattern_of_all(8, 1, 0, pairs).send_to, ElementsAre(4, 7, 6, 5, 0, 3, 2, 1));
  const Hosts uneven{0, 0, 0, 0, 0, 1, 1, 2, 3};
  EXPECT_THAT(pattern_of_all(9, 1, 0, uneven).send_to, ElementsAre(8, 6, 5, 7, -1, 2, 1, 3, 0));
}

/// How often each pattern comes in so many.
std::map<std::vector<std::int32_t>, int> tally(const Hosts& hosts, int num_ranks, int num_patterns) {
  std::map<std::vector<std::int32_t>, int> found;
  for (int index = 0; index < num_patterns; ++index) {
    ++found[pattern_of_all(num_ranks, 42, static_cast<std::uint64_t>(index), hosts).send_to];
  }
  return found;
}

double chi_square(const std::map<std::vector<std::int32_t>, int>& found, double expected) {
  double sum = 0;
  for (const auto& [pattern, num] : found) sum += (num - expected) * (num - expected) / expected;
  return sum;
}

// Limits are the 99.9 % quantiles of chi-square.
TEST(random_pattern, draws_every_matching_equally_often) {
  const auto all = tally({}, 6, 15'000);
  ASSERT_EQ(all.size(), 15u);
  EXPECT_LT(chi_square(all, 1000), 36.12);
  const auto odd = tally({}, 5, 15'000);
  ASSERT_EQ(odd.size(), 15u);
  EXPECT_LT(chi_square(odd, 1000), 36.12);
}

TEST(random_pattern, draws_every_matching_between_like_hosts_equally_often) {
  const auto three_hosts = tally({0, 0, 1, 1, 2, 2}, 6, 8'000);
  ASSERT_EQ(three_hosts.size(), 8u);
  EXPECT_LT(chi_square(three_hosts, 1000), 24.32);
  const auto two_hosts = tally({0, 1, 0, 1, 0, 1}, 6, 6'000);
  ASSERT_EQ(two_hosts.size(), 6u);
  EXPECT_LT(chi_square(two_hosts, 1000), 20.52);
  const auto surplus = tally({0, 0, 0, 1}, 4, 3'000);
  ASSERT_EQ(surplus.size(), 3u) << "who of the full host rests is random";
  EXPECT_LT(chi_square(surplus, 1000), 13.82);
}

TEST(random_pattern, draws_every_matching_between_unlike_hosts) {
  // Of the ranks 4 and 5, which are alone, to each other or not: 2 and 8 matchings.
  const auto found = tally({0, 0, 1, 1, 2, 3}, 6, 10'000);
  EXPECT_EQ(found.size(), 10u);
  for (const auto& [pattern, num] : found) EXPECT_THAT(num, testing::AllOf(testing::Gt(700), testing::Lt(1300)));
}

TEST(pattern, tells_every_rank_its_route) {
  const Pattern shift{{2, no_rank, 3, 0}};
  EXPECT_EQ(shift.num_connections(), 3);
  EXPECT_EQ(shift.route(0), (Route{2, 3}));
  EXPECT_EQ(shift.route(1), (Route{no_rank, no_rank}));
  EXPECT_EQ(shift.route(2), (Route{3, 0}));
  EXPECT_EQ((Pattern{{1, no_rank}}.route(1)), (Route{no_rank, 0}));
}

std::int64_t num_parted(const Pattern& before, const Pattern& after) {
  std::int64_t num = 0;
  for (std::size_t rank = 0; rank < before.send_to.size(); ++rank) num += before.send_to[rank] != after.send_to[rank];
  return num / 2;
}

TEST(swapped_partners, leave_a_matching_of_the_same_participants) {
  for (int num_ranks = 4; num_ranks <= 64; num_ranks += 3) {
    for (const Spread& spread : spreads()) {
      SCOPED_TRACE(testing::Message() << num_ranks << " ranks, " << spread.name);
      const Hosts hosts = hosts_of(spread, num_ranks);
      const Participants participants{num_ranks, hosts};
      const std::vector<std::int32_t> ranks = participants_of(participants);
      const Pattern before = random_pattern(participants, ranks, 1, 0);
      const std::int64_t num_pairs = before.num_connections() / 2;
      for (const double share : {0.0, 0.1, 0.5, 1.0}) {
        const Pattern after = with_swapped_partners(before, participants, share, 1, 7);
        expect_matching(after, participants, ranks);
        for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
          EXPECT_EQ(before.send_to[rank] == no_rank, after.send_to[rank] == no_rank);
        }
        const auto wanted = std::llround(share * static_cast<double>(num_pairs));
        const std::int64_t expected = num_pairs < 2 ? 0 : std::max<std::int64_t>(wanted, 2);
        EXPECT_EQ(num_parted(before, after), expected);
      }
    }
  }
}

TEST(swapped_partners, may_share_a_host_where_that_is_wanted) {
  const Hosts one_host(16, 0);
  const Participants participants{16, one_host, 0, true};
  const std::vector<std::int32_t> ranks = participants_of(participants);
  const Pattern before = random_pattern(participants, ranks, 1, 0);
  EXPECT_EQ(num_parted(before, with_swapped_partners(before, participants, 0.25, 1, 0)), 2);
}

TEST(swapped_partners, differ_from_step_to_step_and_reach_all) {
  const Pattern before = pattern_of_all(4, 1, 0);
  std::set<std::vector<std::int32_t>> found;
  for (std::uint64_t step = 0; step < 30; ++step) {
    const Pattern after = with_swapped_partners(before, {4}, 0.1, 1, step);
    EXPECT_EQ(after.send_to, with_swapped_partners(before, {4}, 0.1, 1, step).send_to);
    found.insert(after.send_to);
  }
  EXPECT_EQ(found.size(), 2u);
}

TEST(swapped_partners, of_one_pair_are_the_same) {
  const Pattern one{{2, no_rank, 0}};
  EXPECT_EQ(with_swapped_partners(one, {3}, 1, 1, 0).send_to, one.send_to);
}

}  // namespace
}  // namespace leadline::schedule
