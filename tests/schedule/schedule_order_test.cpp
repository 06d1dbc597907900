// SPDX-License-Identifier: Apache-2.0
// Chosen and shuffled rounds, and permuted ranks: what changes, what stays, and that all ranks get the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "schedule/schedule.hpp"

namespace leadline::schedule::schedule_order_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> numbers(const Schedule& schedule) {
  std::vector<std::int64_t> result;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) result.push_back(schedule.number_of(round));
  return result;
}

std::string refusal(const Spec& spec) {
  try {
    Schedule schedule(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return "accepted";
}

void expect_same_round(const Schedule& a, std::int64_t round_a, const Schedule& b, std::int64_t round_b,
                       int num_ranks) {
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto pairing_a = a.pairing(rank, round_a), pairing_b = b.pairing(rank, round_b);
    ASSERT_EQ(pairing_a.has_value(), pairing_b.has_value());
    if (!pairing_a) continue;
    ASSERT_EQ(pairing_a->partner, pairing_b->partner);
    ASSERT_EQ(pairing_a->leads_first, pairing_b->leads_first);
  }
}

TEST(rounds, run_in_the_order_given) {
  for (const bool serial : {false, true}) {
    const Spec plain_spec{.num_ranks = 7, .serial = serial, .rounds = {}};
    Spec chosen_spec = plain_spec;
    chosen_spec.rounds = {5, 1, 7};
    const Schedule plain(plain_spec), chosen(chosen_spec);
    EXPECT_THAT(numbers(chosen), ElementsAre(5, 1, 7));
    for (std::int64_t round = 0; round < 3; ++round) {
      expect_same_round(chosen, round, plain, chosen.number_of(round) - 1, 7);
    }
  }
}

TEST(rounds, that_do_not_exist_are_refused) {
  EXPECT_THAT(refusal({.num_ranks = 8, .rounds = {1, 8}}),
              HasSubstr("round 8 (with these ranks rounds are numbered 1 to 7)"));
  EXPECT_THAT(refusal({.num_ranks = 8, .rounds = {0}}), HasSubstr("round 0"));
  EXPECT_THAT(refusal({.num_ranks = 8, .rounds = {-1, 3}}), HasSubstr("round -1"));
  EXPECT_THAT(refusal({.num_ranks = 7, .rounds = {8}}), HasSubstr("1 to 7"));
  EXPECT_THAT(refusal({.num_ranks = 8, .serial = true, .rounds = {29}}), HasSubstr("1 to 28"));
  EXPECT_EQ(refusal({.num_ranks = 8, .serial = true, .rounds = {28}}), "accepted");
  EXPECT_EQ(refusal({.num_ranks = 1, .rounds = {1}}), "accepted");
}

TEST(rounds, that_stand_twice_are_refused) {
  EXPECT_THAT(refusal({.num_ranks = 8, .rounds = {3, 1, 3}}), HasSubstr("round 3 is asked for twice"));
}

TEST(shuffled_rounds, are_all_rounds_in_another_order) {
  for (const bool serial : {false, true}) {
    for (int num_ranks = 1; num_ranks <= 20; ++num_ranks) {
      const Schedule plain({.num_ranks = num_ranks, .serial = serial, .rounds = {}});
      const Schedule shuffled({.num_ranks = num_ranks, .serial = serial, .rounds = {}, .shuffle_rounds = true});
      ASSERT_EQ(shuffled.num_rounds(), plain.num_rounds());
      auto sorted = numbers(shuffled);
      EXPECT_EQ(std::is_sorted(sorted.begin(), sorted.end()), num_ranks <= 2) << num_ranks;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, numbers(plain));
      for (std::int64_t round = 0; round < shuffled.num_rounds(); ++round) {
        expect_same_round(shuffled, round, plain, shuffled.number_of(round) - 1, num_ranks);
      }
    }
  }
}

TEST(shuffled_rounds, are_those_chosen_where_some_are_chosen) {
  std::vector<std::int64_t> chosen{21, 3, 5, 8, 13, 2};
  const Schedule schedule({.num_ranks = 32, .rounds = chosen, .shuffle_rounds = true});
  EXPECT_NE(numbers(schedule), chosen);
  EXPECT_THAT(numbers(schedule), testing::UnorderedElementsAreArray(chosen));
}

TEST(shuffled_rounds, are_the_same_for_the_same_seed_only) {
  const auto of_seed = [](std::uint64_t seed) {
    return numbers(Schedule({.num_ranks = 32, .rounds = {}, .shuffle_rounds = true, .rounds_seed = seed}));
  };
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

TEST(shuffled_rounds, too_many_for_memory_are_refused) {
  EXPECT_THAT(refusal({.num_ranks = 1 << 20, .serial = true, .rounds = {}, .shuffle_rounds = true}),
              HasSubstr("too many to shuffle"));
}

TEST(shuffled_rounds, and_permuted_ranks_have_seeds_of_their_own) {
  const Spec spec{.num_ranks = 16, .shuffle_rounds = true, .permutation = 0, .rounds_seed = 1, .ranks_seed = 1};
  Spec other_rounds = spec, other_ranks = spec;
  other_rounds.rounds_seed = 2;
  other_ranks.ranks_seed = 2;
  const Schedule first(spec), second(other_rounds), third(other_ranks);
  EXPECT_NE(numbers(first), numbers(second));
  EXPECT_EQ(numbers(first), numbers(third));
  const std::vector<std::int64_t> order = numbers(second);
  const std::int64_t same_round = std::ranges::find(order, first.number_of(0)) - order.begin();
  EXPECT_EQ(first.pairs(0), second.pairs(same_round));
  EXPECT_NE(first.pairs(0), third.pairs(0));
}

// Recorded schedules are only worth something if the same seed gives the same order for ever.
TEST(shuffled_rounds, never_change_between_versions) {
  EXPECT_THAT(numbers(Schedule({.num_ranks = 8, .shuffle_rounds = true})), ElementsAre(2, 3, 5, 4, 7, 1, 6));
}

TEST(permutation, holds_every_rank_once) {
  for (int num_ranks = 1; num_ranks <= 64; ++num_ranks) {
    auto ranks = permutation(num_ranks, 1, 0);
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::int32_t> all(static_cast<std::size_t>(num_ranks));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(ranks, all);
  }
}

TEST(permutation, follows_from_seed_and_index) {
  EXPECT_EQ(permutation(32, 1, 0), permutation(32, 1, 0));
  EXPECT_NE(permutation(32, 1, 0), permutation(32, 1, 1));
  EXPECT_NE(permutation(32, 1, 0), permutation(32, 2, 0));
}

// Recorded schedules are only worth something if the same seed gives the same order for ever.
TEST(permutation, never_changes_between_versions) {
  EXPECT_THAT(permutation(8, 1, 0), ElementsAre(4, 2, 5, 7, 6, 1, 0, 3));
}

TEST(permutation, and_shuffle_of_rounds_draw_from_different_streams) {
  const Schedule schedule({.num_ranks = 31, .rounds = {}, .shuffle_rounds = true, .rounds_seed = 9});
  for (int index = 0; index < 4; ++index) {
    std::vector<std::int64_t> as_rounds;
    for (const std::int32_t rank : permutation(31, 9, index)) as_rounds.push_back(rank + 1);
    EXPECT_NE(numbers(schedule), as_rounds);
  }
}

TEST(permuted_schedule, is_the_plain_one_with_other_ranks_on_its_seats) {
  for (const bool serial : {false, true}) {
    for (const int num_ranks : {2, 3, 8, 9}) {
      const Schedule plain({.num_ranks = num_ranks, .serial = serial, .rounds = {}});
      const Schedule permuted(
          {.num_ranks = num_ranks, .serial = serial, .rounds = {}, .permutation = 5, .ranks_seed = 3});
      const auto seat_to_rank = permutation(num_ranks, 3, 5);
      for (std::int64_t round = 0; round < plain.num_rounds(); ++round) {
        for (int seat = 0; seat < num_ranks; ++seat) {
          const auto wanted = plain.pairing(seat, round);
          const auto pairing = permuted.pairing(seat_to_rank[static_cast<std::size_t>(seat)], round);
          ASSERT_EQ(pairing.has_value(), wanted.has_value());
          if (!pairing) continue;
          EXPECT_EQ(pairing->partner, seat_to_rank[static_cast<std::size_t>(wanted->partner)]);
          EXPECT_EQ(pairing->leads_first, wanted->leads_first);
        }
      }
    }
  }
}

TEST(permuted_schedule, needs_a_permutation_that_exists) {
  EXPECT_THAT(refusal({.num_ranks = 8, .rounds = {}, .permutation = -2}), HasSubstr("permutation -2"));
}

TEST(everything_at_once, two_ranks_compute_the_same) {
  const Spec spec{.num_ranks = 13,
                  .serial = true,
                  .rounds = {70, 1, 33, 4, 78, 12},
                  .shuffle_rounds = true,
                  .permutation = 2,
                  .rounds_seed = 77,
                  .ranks_seed = 78};
  const Schedule mine(spec), yours(spec);
  ASSERT_EQ(mine.num_rounds(), 6);
  EXPECT_EQ(numbers(mine), numbers(yours));
  for (std::int64_t round = 0; round < 6; ++round) {
    expect_same_round(mine, round, yours, round, 13);
    const Pair pair = mine.pairs(round).at(0);
    EXPECT_EQ(yours.pairing(pair.first, round)->partner, pair.second);
    EXPECT_TRUE(yours.pairing(pair.first, round)->leads_first);
    EXPECT_FALSE(yours.pairing(pair.second, round)->leads_first);
  }
}

}  // namespace
}  // namespace leadline::schedule::schedule_order_test
