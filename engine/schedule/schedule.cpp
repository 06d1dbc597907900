// SPDX-License-Identifier: Apache-2.0
// The circle method, its serial form, and the shuffles of rounds and ranks.
//
// Players 0..n-1 (n even) play steps 1..n-1. Player 0 keeps its place; in step s player p >= 1 sits on chair
// (p-1+s) mod (n-1). Chair 0 faces player 0; chair q >= 1 faces chair n-1-q. That pair is table min(q, n-1-q), so
// tables run from 0 (player 0's) to n/2-1, and at each the player on the lower chair, or player 0, leads first.
// A permutation decides which rank is which player (its "seat"); the ghost of an odd tournament is player n-1.
#include "schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/error.hpp"
#include "core/random.hpp"

namespace leadline::schedule {
namespace {

/// Half a gigabyte of round numbers. Only serial tests of more than 11585 ranks have more, and they take days.
constexpr std::int64_t max_shuffled_rounds = std::int64_t{1} << 26;

/// Streams of the seed; a permutation's index is added to its own.
constexpr std::uint64_t rounds_stream = std::uint64_t{1} << 32;
constexpr std::uint64_t permutation_stream = std::uint64_t{2} << 32;

void check_num_ranks(int num_ranks) {
  if (num_ranks >= 1) return;
  throw Error(ExitStatus::bad_command_line, "there is no schedule of so few ranks", fmt::format("{} ranks", num_ranks),
              "At least 1 rank is needed");
}

void check_rounds(const std::vector<std::int64_t>& rounds, std::int64_t num_rounds) {
  std::vector<std::int64_t> sorted = rounds;
  std::sort(sorted.begin(), sorted.end());
  for (const std::int64_t round : {sorted.front(), sorted.back()}) {
    if (round >= 1 && round <= num_rounds) continue;
    throw Error(ExitStatus::bad_command_line, fmt::format("there is no round {}", round),
                fmt::format("with these ranks rounds are numbered 1 to {}", num_rounds));
  }
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    throw Error(ExitStatus::bad_command_line, fmt::format("round {} is asked for twice", *twice), {},
                "Give each round once; to measure again, repeat the whole test");
  }
}

}  // namespace

Schedule::Schedule(Spec spec) : serial_(spec.serial) {
  check_num_ranks(spec.num_ranks);
  num_ranks_ = spec.num_ranks;
  num_seats_ = num_ranks_ + num_ranks_ % 2;
  num_steps_ = num_seats_ - 1;
  num_tables_ = std::max<std::int64_t>(1, num_ranks_ / 2);
  choose_rounds(spec);

  if (spec.permutation < -1) {
    throw Error(ExitStatus::bad_command_line, fmt::format("there is no permutation {}", spec.permutation),
                "permutations are numbered from 0");
  }
  if (spec.permutation == -1) return;
  seat_to_rank_ = schedule::permutation(spec.num_ranks, spec.seed, spec.permutation);
  rank_to_seat_.resize(seat_to_rank_.size());
  for (std::size_t seat = 0; seat < seat_to_rank_.size(); ++seat) {
    rank_to_seat_[static_cast<std::size_t>(seat_to_rank_[seat])] = static_cast<std::int32_t>(seat);
  }
}

void Schedule::choose_rounds(const Spec& spec) {
  const std::int64_t num_all = serial_ ? num_steps_ * num_tables_ : num_steps_;
  if (!spec.rounds.empty()) {
    check_rounds(spec.rounds, num_all);
    order_ = spec.rounds;
  }
  if (!spec.shuffle_rounds) return;
  if (order_.empty()) {
    if (num_all > max_shuffled_rounds) {
      throw Error(ExitStatus::bad_command_line, fmt::format("{} rounds are too many to shuffle", num_all),
                  fmt::format("at most {}", max_shuffled_rounds), "Run them as they come, or choose some");
    }
    order_.resize(static_cast<std::size_t>(num_all));
    std::iota(order_.begin(), order_.end(), 1);
  }
  Random(spec.seed, rounds_stream).shuffle(order_);
}

std::int64_t Schedule::num_rounds() const {
  if (!order_.empty()) return static_cast<std::int64_t>(order_.size());
  return serial_ ? num_steps_ * num_tables_ : num_steps_;
}

std::int64_t Schedule::number_of(std::int64_t round) const {
  assert(round >= 0 && round < num_rounds());
  return order_.empty() ? round + 1 : order_[static_cast<std::size_t>(round)];
}

Schedule::Place Schedule::place_of(std::int64_t round) const {
  const std::int64_t number = number_of(round);
  if (!serial_) return {number, 0};
  Place place{(number - 1) / num_tables_ + 1, (number - 1) % num_tables_};
  if (place.table >= ghost_table(place.step)) ++place.table;
  return place;
}

/// The table at which somebody rests; behind the last one where there is no ghost.
std::int64_t Schedule::ghost_table(std::int64_t step) const {
  if (num_seats_ == num_ranks_ || num_ranks_ == 1) return num_seats_;
  const std::int64_t modulus = num_seats_ - 1;
  const std::int64_t chair = (num_seats_ - 2 + step) % modulus;
  return std::min(chair, modulus - chair);
}

/// The two ranks at a table that the ghost does not sit at.
Pair Schedule::pair_at(std::int64_t step, std::int64_t table) const {
  if (num_ranks_ == 1) return {0, 0};
  const std::int64_t modulus = num_seats_ - 1;
  const auto rank_on = [&](std::int64_t chair) {
    const std::int64_t seat = 1 + (chair - step + modulus) % modulus;
    return seat_to_rank_.empty() ? static_cast<int>(seat) : seat_to_rank_[static_cast<std::size_t>(seat)];
  };
  const int rank_zero = seat_to_rank_.empty() ? 0 : seat_to_rank_.front();
  return {table == 0 ? rank_zero : rank_on(table), rank_on(table == 0 ? 0 : modulus - table)};
}

std::optional<Meeting> Schedule::meeting(int rank, std::int64_t round) const {
  assert(rank >= 0 && rank < num_ranks_);
  const Place place = place_of(round);
  std::int64_t table = 0;
  if (const std::int64_t seat = rank_to_seat_.empty() ? rank : rank_to_seat_[static_cast<std::size_t>(rank)];
      seat > 0) {
    const std::int64_t modulus = num_seats_ - 1;
    const std::int64_t chair = (seat - 1 + place.step) % modulus;
    table = std::min(chair, modulus - chair);
  }
  const bool plays = serial_ ? table == place.table : table != ghost_table(place.step);
  if (!plays) return std::nullopt;
  const Pair pair = pair_at(place.step, table);
  return Meeting{pair.first == rank ? pair.second : pair.first, pair.first == rank};
}

std::vector<Pair> Schedule::pairs(std::int64_t round) const {
  const Place place = place_of(round);
  if (serial_) return {pair_at(place.step, place.table)};
  std::vector<Pair> result;
  result.reserve(static_cast<std::size_t>(num_tables_));
  const std::int64_t resting = ghost_table(place.step);
  for (std::int64_t table = 0; table < num_seats_ / 2; ++table) {
    if (table != resting) result.push_back(pair_at(place.step, table));
  }
  return result;
}

std::vector<std::int32_t> permutation(int num_ranks, std::uint64_t seed, int index) {
  check_num_ranks(num_ranks);
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(num_ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  Random(seed, permutation_stream + static_cast<std::uint64_t>(index)).shuffle(ranks);
  return ranks;
}

}  // namespace leadline::schedule
