// SPDX-License-Identifier: Apache-2.0
// Tournaments of 1 to 64 ranks, tried exhaustively, and against LinkTest's published tables and formulas.
#include "schedule/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.hpp"

namespace leadline::schedule::schedule_test {
namespace {

constexpr int most_ranks = 64;

Spec spec_of(int num_ranks, bool serial = false, int permutation = -1) {
  Spec spec;
  spec.num_ranks = num_ranks;
  spec.serial = serial;
  spec.permutation = permutation;
  return spec;
}

using UnorderedPair = std::pair<int, int>;

UnorderedPair unordered(const Pair& pair) { return std::minmax({pair.first, pair.second}); }

/// What must hold in any round: nobody twice, pairing() says the same as pairs() for everybody, one side leads.
void check_round(const Schedule& schedule, int num_ranks, std::int64_t round) {
  std::vector<std::optional<Pairing>> expected(static_cast<std::size_t>(num_ranks));
  for (const Pair& pair : schedule.pairs(round)) {
    auto& first = expected.at(static_cast<std::size_t>(pair.first));
    ASSERT_FALSE(first.has_value()) << "rank " << pair.first << " twice in round " << round;
    first = Pairing{pair.second, true};
    if (pair.first == pair.second) continue;
    auto& second = expected.at(static_cast<std::size_t>(pair.second));
    ASSERT_FALSE(second.has_value()) << "rank " << pair.second << " twice in round " << round;
    second = Pairing{pair.first, false};
  }
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto pairing = schedule.pairing(rank, round);
    const auto& wanted = expected[static_cast<std::size_t>(rank)];
    ASSERT_EQ(pairing.has_value(), wanted.has_value()) << "rank " << rank << " round " << round;
    if (!pairing) continue;
    ASSERT_EQ(pairing->partner, wanted->partner) << "rank " << rank << " round " << round;
    ASSERT_EQ(pairing->leads_first, wanted->leads_first) << "rank " << rank << " round " << round;
  }
}

class AllSizes : public testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(AllSizes, every_pair_meets_exactly_once_and_all_agree) {
  const auto [serial, permutation] = GetParam();
  for (int num_ranks = 2; num_ranks <= most_ranks; ++num_ranks) {
    SCOPED_TRACE(num_ranks);
    const Schedule schedule(spec_of(num_ranks, serial, permutation));
    const std::int64_t num_pairs = std::int64_t{num_ranks} * (num_ranks - 1) / 2;
    ASSERT_EQ(schedule.num_rounds(), serial ? num_pairs : num_ranks - 1 + num_ranks % 2);
    std::set<UnorderedPair> seen;
    for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
      ASSERT_EQ(schedule.number_of(round), round + 1);
      const auto pairs = schedule.pairs(round);
      ASSERT_EQ(pairs.size(), static_cast<std::size_t>(serial ? 1 : num_ranks / 2));
      for (const Pair& pair : pairs) {
        ASSERT_NE(pair.first, pair.second);
        ASSERT_TRUE(seen.insert(unordered(pair)).second) << pair.first << "-" << pair.second << " meet again";
      }
      ASSERT_NO_FATAL_FAILURE(check_round(schedule, num_ranks, round));
    }
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(num_pairs));
    ASSERT_EQ(seen.begin()->first, 0);
    ASSERT_EQ(seen.rbegin()->second, num_ranks - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(tournament, AllSizes, testing::Values(std::tuple(false, -1), std::tuple(false, 0)));
INSTANTIATE_TEST_SUITE_P(serial, AllSizes, testing::Values(std::tuple(true, -1), std::tuple(true, 3)));

/// Whatever the participants and the order of the ranks.
TEST(schedule, a_shift_has_each_ordered_pair_once_with_one_to_send_to_and_one_to_receive_from) {
  for (int num_ranks = 2; num_ranks <= most_ranks; ++num_ranks) {
    SCOPED_TRACE(num_ranks);
    for (const int permutation : {-1, 3}) {
      Spec spec = spec_of(num_ranks, false, permutation);
      spec.shift = true;
      for (int rank = 0; num_ranks > 4 && rank < num_ranks; rank += 2) spec.participants.push_back(rank);
      const int num_participants = num_ranks > 4 ? (num_ranks + 1) / 2 : num_ranks;
      const Schedule schedule(spec);
      ASSERT_EQ(schedule.num_rounds(), num_participants - 1);
      std::set<std::pair<int, int>> met;
      for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
        const std::vector<Pair> pairs = schedule.pairs(round);
        ASSERT_EQ(pairs.size(), static_cast<std::size_t>(num_participants));
        for (const Pair& pair : pairs) {
          ASSERT_NE(pair.first, pair.second);
          ASSERT_TRUE(met.insert({pair.first, pair.second}).second);
          ASSERT_EQ(schedule.pairing(pair.first, round)->partner, pair.second);
          ASSERT_EQ(schedule.source(pair.second, round), pair.first);
        }
        if (num_ranks > 4) {
          ASSERT_FALSE(schedule.source(1, round));
        }
      }
    }
  }
}

TEST(schedule, a_shift_can_be_cut_to_some_rounds_and_needs_two_ranks) {
  Spec spec = spec_of(5);
  spec.shift = true;
  spec.rounds = {4, 1};
  const Schedule schedule(spec);
  EXPECT_EQ(schedule.num_rounds(), 2);
  EXPECT_EQ(schedule.pairing(1, 0)->partner, 0);
  EXPECT_EQ(schedule.pairing(1, 1)->partner, 2);
  Spec alone = spec_of(1);
  alone.shift = true;
  EXPECT_THROW((void)Schedule(alone), Error);
}

TEST(schedule, no_ranks_or_fewer_is_an_error) {
  for (const int num_ranks : {0, -1, INT_MIN}) {
    try {
      Schedule schedule(spec_of(num_ranks));
      FAIL() << num_ranks;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    }
  }
  EXPECT_THROW(permutation(0, 1, 0), Error);
}

TEST(schedule, one_rank_meets_itself_once) {
  for (const bool serial : {false, true}) {
    for (const int permutation : {-1, 0}) {
      const Schedule schedule(spec_of(1, serial, permutation));
      ASSERT_EQ(schedule.num_rounds(), 1);
      const auto pairing = schedule.pairing(0, 0);
      ASSERT_TRUE(pairing.has_value());
      EXPECT_EQ(pairing->partner, 0);
      EXPECT_TRUE(pairing->leads_first);
      ASSERT_EQ(schedule.pairs(0).size(), 1u);
      EXPECT_NO_FATAL_FAILURE(check_round(schedule, 1, 0));
    }
  }
}

TEST(schedule, of_an_odd_number_everybody_rests_once) {
  for (int num_ranks = 3; num_ranks <= most_ranks; num_ranks += 2) {
    const Schedule schedule(spec_of(num_ranks));
    for (int rank = 0; rank < num_ranks; ++rank) {
      int num_rests = 0;
      for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
        num_rests += schedule.pairing(rank, round).has_value() ? 0 : 1;
      }
      ASSERT_EQ(num_rests, 1) << num_ranks << " ranks, rank " << rank;
    }
  }
}

// The tables that LinkTest 1.2 prints, one row a step.
TEST(schedule, of_4_and_8_ranks_is_linktests_table) {
  const std::vector<std::vector<UnorderedPair>> four{{{0, 3}, {1, 2}}, {{0, 2}, {1, 3}}, {{0, 1}, {2, 3}}};
  const std::vector<std::vector<UnorderedPair>> eight{
      {{0, 7}, {1, 6}, {2, 5}, {3, 4}}, {{0, 6}, {1, 4}, {2, 3}, {5, 7}}, {{0, 5}, {1, 2}, {3, 7}, {4, 6}},
      {{0, 4}, {1, 7}, {2, 6}, {3, 5}}, {{0, 3}, {1, 5}, {2, 4}, {6, 7}}, {{0, 2}, {1, 3}, {4, 7}, {5, 6}},
      {{0, 1}, {2, 7}, {3, 6}, {4, 5}}};
  for (const auto& table : {four, eight}) {
    const int num_ranks = static_cast<int>(table.size()) + 1;
    const Schedule schedule(spec_of(num_ranks));
    for (std::size_t step = 0; step < table.size(); ++step) {
      std::vector<UnorderedPair> found;
      for (const Pair& pair : schedule.pairs(static_cast<std::int64_t>(step))) found.push_back(unordered(pair));
      EXPECT_THAT(found, testing::UnorderedElementsAreArray(table[step])) << num_ranks << " ranks, step " << step + 1;
    }
  }
}

// The closed formula for the step in which two ranks meet; the even sizes, as LinkTest has no others.
TEST(schedule, pairs_meet_in_the_step_of_the_formula) {
  for (int num_ranks = 2; num_ranks <= most_ranks; num_ranks += 2) {
    const Schedule schedule(spec_of(num_ranks));
    const int modulus = num_ranks - 1;
    for (int a = 0; a < num_ranks; ++a) {
      for (int b = a + 1; b < num_ranks; ++b) {
        int step = num_ranks - b;
        if (a > 0) {
          step = (modulus - (a + b - 2) * (num_ranks / 2) % modulus) % modulus;
          if (step == 0) step = modulus;
        }
        const auto pairing = schedule.pairing(a, step - 1);
        ASSERT_TRUE(pairing.has_value());
        ASSERT_EQ(pairing->partner, b) << num_ranks << " ranks, step " << step << ", rank " << a;
      }
    }
  }
}

// Rank 0 leads always; otherwise the rank r with (r-1+s) mod (N-1) in 1..N/2-1.
TEST(schedule, the_side_of_the_formula_leads_first) {
  for (int num_ranks = 2; num_ranks <= most_ranks; num_ranks += 2) {
    const Schedule schedule(spec_of(num_ranks));
    for (int step = 1; step < num_ranks; ++step) {
      for (int rank = 0; rank < num_ranks; ++rank) {
        const int chair = (rank - 1 + step) % (num_ranks - 1);
        const bool leads = rank == 0 || (chair >= 1 && chair <= num_ranks / 2 - 1);
        ASSERT_EQ(schedule.pairing(rank, step - 1)->leads_first, leads)
            << num_ranks << " ranks, step " << step << ", rank " << rank;
      }
    }
  }
}

TEST(schedule, of_an_odd_number_is_that_of_one_more_without_the_last_rank) {
  for (int num_ranks = 3; num_ranks < most_ranks; num_ranks += 2) {
    const Schedule odd(spec_of(num_ranks)), even(spec_of(num_ranks + 1));
    ASSERT_EQ(odd.num_rounds(), even.num_rounds());
    for (std::int64_t round = 0; round < odd.num_rounds(); ++round) {
      for (int rank = 0; rank < num_ranks; ++rank) {
        const auto pairing = odd.pairing(rank, round);
        const auto wanted = even.pairing(rank, round);
        ASSERT_EQ(pairing.has_value(), wanted->partner != num_ranks);
        if (!pairing) continue;
        ASSERT_EQ(pairing->partner, wanted->partner);
        ASSERT_EQ(pairing->leads_first, wanted->leads_first);
      }
    }
  }
}

// Serial: the pairs of each step one after another, in the order in which pairs() lists them.
TEST(schedule, serial_is_the_tournament_unrolled) {
  for (int num_ranks = 2; num_ranks <= 17; ++num_ranks) {
    const Schedule parallel(spec_of(num_ranks)), serial(spec_of(num_ranks, true));
    std::int64_t serial_round = 0;
    for (std::int64_t round = 0; round < parallel.num_rounds(); ++round) {
      for (const Pair& pair : parallel.pairs(round)) {
        const auto alone = serial.pairs(serial_round++);
        ASSERT_EQ(alone.size(), 1u);
        ASSERT_EQ(alone[0].first, pair.first);
        ASSERT_EQ(alone[0].second, pair.second);
      }
    }
    ASSERT_EQ(serial_round, serial.num_rounds());
  }
}

TEST(schedule, of_a_million_ranks_needs_no_table) {
  const int num_ranks = 1 << 20;
  const Schedule schedule(spec_of(num_ranks));
  ASSERT_EQ(schedule.num_rounds(), num_ranks - 1);
  const int rank = 123456;
  std::vector<bool> met(static_cast<std::size_t>(num_ranks));
  met[static_cast<std::size_t>(rank)] = true;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    met[static_cast<std::size_t>(schedule.pairing(rank, round)->partner)] = true;
  }
  EXPECT_EQ(std::count(met.begin(), met.end(), false), 0);
}

TEST(schedule, of_the_most_ranks_does_not_overflow) {
  const Schedule schedule(spec_of(INT_MAX, true));
  const std::int64_t num_pairs = std::int64_t{INT_MAX} * (INT_MAX - 1) / 2;
  ASSERT_EQ(schedule.num_rounds(), num_pairs);
  for (const std::int64_t round : {std::int64_t{0}, num_pairs / 3, num_pairs - 1}) {
    const Pair pair = schedule.pairs(round).at(0);
    EXPECT_EQ(schedule.pairing(pair.first, round)->partner, pair.second);
    EXPECT_EQ(schedule.pairing(pair.second, round)->partner, pair.first);
  }
}

}  // namespace
}  // namespace leadline::schedule::schedule_test
