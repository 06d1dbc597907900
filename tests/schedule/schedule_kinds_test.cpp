// SPDX-License-Identifier: Apache-2.0
// All kinds of schedule (pairs, bisection, hosts, chosen participants) for up to 64 ranks in every combination.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "scenario.hpp"
#include "schedule/schedule.hpp"

namespace leadline::schedule::schedule_kinds_test {
namespace {

#ifdef LEADLINE_SANITIZE
constexpr int most_ranks = 32;  // every access takes its time there
#else
constexpr int most_ranks = 64;
#endif
constexpr int most_ranks_asked_one_by_one = 20;  // of a serial schedule, whose rounds grow with the square of the ranks

using Rounds = std::vector<std::vector<Pair>>;

Rounds rounds_of(const Schedule& schedule) {
  Rounds rounds;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) rounds.push_back(schedule.pairs(round));
  return rounds;
}

/// Every pair that is allowed once and no other; nobody twice in a round.
void check_pairs(const Rounds& rounds, const Expected& expected, int num_ranks) {
  const auto count = static_cast<std::size_t>(num_ranks);
  std::vector<bool> met(count * count);
  std::vector<std::size_t> last_round(count, rounds.size());
  std::int64_t num_pairs = 0;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    ASSERT_FALSE(rounds[round].empty()) << "round " << round;
    for (const Pair& pair : rounds[round]) {
      ASSERT_TRUE(expected.allows(pair)) << pair.first << "-" << pair.second << " in round " << round;
      const auto [low, high] =
          std::minmax({static_cast<std::size_t>(pair.first), static_cast<std::size_t>(pair.second)});
      ASSERT_FALSE(met[low * count + high]) << pair.first << "-" << pair.second << " again in round " << round;
      ASSERT_TRUE(last_round[low] != round && last_round[high] != round)
          << "one of " << low << ", " << high << " twice";
      met[low * count + high] = true;
      last_round[low] = last_round[high] = round;
      ++num_pairs;
    }
  }
  ASSERT_EQ(num_pairs, expected.num_pairs());
}

/// What a rank finds out alone must be what pairs() says of it.
void check_pairing(const Schedule& schedule, std::int64_t round, int rank, const std::optional<Pairing>& expected) {
  const auto pairing = schedule.pairing(rank, round);
  ASSERT_EQ(pairing.has_value(), expected.has_value()) << "rank " << rank << " round " << round;
  if (!pairing) return;
  ASSERT_EQ(pairing->leads_first, expected->leads_first) << "rank " << rank << " round " << round;
  ASSERT_EQ(pairing->partner, expected->partner) << "rank " << rank << " round " << round;
}

void check_parallel(const Spec& spec, const Rounds& rounds, const Expected& expected) {
  const Schedule schedule(spec);
  ASSERT_EQ(static_cast<std::int64_t>(rounds.size()), expected.num_parallel_rounds());
  ASSERT_NO_FATAL_FAILURE(check_pairs(rounds, expected, spec.num_ranks));
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::vector<std::optional<Pairing>> pairings(static_cast<std::size_t>(spec.num_ranks));
    for (const Pair& pair : rounds[round]) {
      pairings.at(static_cast<std::size_t>(pair.second)) = Pairing{pair.first, false};
      pairings.at(static_cast<std::size_t>(pair.first)) = Pairing{pair.second, true};
    }
    for (int rank = 0; rank < spec.num_ranks; ++rank) {
      check_pairing(schedule, static_cast<std::int64_t>(round), rank, pairings[static_cast<std::size_t>(rank)]);
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

/// A round of one pair. Where there are many ranks only both partners and a third one are asked.
void check_round_of_one(const Schedule& schedule, std::int64_t round, const Pair& pair, int num_ranks) {
  const std::vector<Pair> alone = schedule.pairs(round);
  ASSERT_TRUE(alone.size() == 1 && alone[0] == pair) << "round " << round;
  check_pairing(schedule, round, pair.second, Pairing{pair.first, pair.first == pair.second});
  check_pairing(schedule, round, pair.first, Pairing{pair.second, true});
  const bool asks_all = num_ranks <= most_ranks_asked_one_by_one;
  const int first_asked = asks_all ? 0 : static_cast<int>(round % num_ranks);
  for (int rank = first_asked; rank < (asks_all ? num_ranks : first_asked + 1); ++rank) {
    if (rank != pair.first && rank != pair.second) check_pairing(schedule, round, rank, std::nullopt);
  }
}

/// The parallel rounds' pairs one by one.
void check_serial(Spec spec, const Rounds& parallel, const Expected& expected) {
  spec.serial = true;
  const Schedule schedule(spec);
  ASSERT_EQ(schedule.num_rounds(), expected.num_pairs());
  std::int64_t round = 0;
  for (const auto& pairs : parallel) {
    for (const Pair& pair : pairs) {
      check_round_of_one(schedule, round++, pair, spec.num_ranks);
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
}

/// The same rounds in another order, the same one for every rank that asks.
void check_shuffled(Spec spec) {
  const Schedule plain(spec);
  spec.shuffle_rounds = true;
  const Schedule shuffled(spec), again(spec);
  ASSERT_EQ(shuffled.num_rounds(), plain.num_rounds());
  std::vector<bool> ran(static_cast<std::size_t>(plain.num_rounds()));
  for (std::int64_t round = 0; round < plain.num_rounds(); ++round) {
    const std::int64_t number = shuffled.number_of(round);
    ASSERT_EQ(plain.number_of(round), round + 1);
    ASSERT_EQ(again.number_of(round), number);
    ASSERT_FALSE(ran.at(static_cast<std::size_t>(number - 1)));
    ran[static_cast<std::size_t>(number - 1)] = true;
    const int rank = static_cast<int>(round % spec.num_ranks);
    const auto expected = plain.pairing(rank, number - 1), pairing = shuffled.pairing(rank, round);
    ASSERT_EQ(pairing.has_value(), expected.has_value());
    ASSERT_TRUE(!pairing || pairing->partner == expected->partner);
  }
}

void check_refused(Spec spec) {
  for (const bool serial : {false, true}) {
    spec.serial = serial;
    try {
      const Schedule schedule(spec);
      ADD_FAILURE() << "accepted with " << schedule.num_rounds() << " rounds";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    }
  }
}

void check_all_forms(Spec spec) {
  const Expected expected(spec);
  if (expected.num_pairs() == 0) return check_refused(spec);
  const Rounds rounds = rounds_of(Schedule(spec));
  ASSERT_NO_FATAL_FAILURE(check_parallel(spec, rounds, expected));
  ASSERT_NO_FATAL_FAILURE(check_serial(spec, rounds, expected));
  ASSERT_NO_FATAL_FAILURE(check_shuffled(spec));
  spec.serial = true;
  ASSERT_NO_FATAL_FAILURE(check_shuffled(spec));
}

TEST(no_ranks, have_no_schedule_of_any_kind) {
  for (const bool bisection : {false, true}) {
    for (const int permutation : {-1, 3}) {
      check_refused({.num_ranks = 0, .bisection = bisection, .permutation = permutation});
    }
  }
}

class Kinds : public testing::TestWithParam<std::tuple<Placement, bool>> {};

TEST_P(Kinds, hold_every_allowed_pair_once_in_every_form) {
  const auto [placement, bisection] = GetParam();
  for (const Participation participants : all_participants) {
    for (int num_ranks = 1; num_ranks <= most_ranks; ++num_ranks) {
      Scenario given = scenario(placement, participants, num_ranks);
      given.spec.bisection = bisection;
      for (const int permutation : {-1, 3}) {
        SCOPED_TRACE(testing::Message() << num_ranks << " ranks, participants " << static_cast<int>(participants)
                                        << ", permutation " << permutation);
        given.spec.permutation = permutation;
        ASSERT_NO_FATAL_FAILURE(check_all_forms(given.spec));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(schedule, Kinds, testing::Combine(testing::ValuesIn(all_placements), testing::Bool()),
                         [](const auto& kind) {
                           return name_of(std::get<0>(kind.param)) +
                                  (std::get<1>(kind.param) ? "_bisection" : "_all_pairs");
                         });

}  // namespace
}  // namespace leadline::schedule::schedule_kinds_test
