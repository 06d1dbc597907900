// SPDX-License-Identifier: Apache-2.0
// Seats: which ranks play, in which order and groups; rounds: which of them, in which order.
#include "schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <unordered_map>
#include <utility>

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

/// Participants in the order of their seats; empty = all ranks as they are.
std::vector<std::int32_t> seated_participants(const Spec& spec) {
  if (spec.permutation < -1) {
    throw Error(ExitStatus::bad_command_line, fmt::format("there is no permutation {}", spec.permutation),
                "permutations are numbered from 0");
  }
  assert(std::is_sorted(spec.participants.begin(), spec.participants.end()));
  assert(spec.participants.empty() || (spec.participants.front() >= 0 && spec.participants.back() < spec.num_ranks));
  if (spec.permutation == -1) return spec.participants;
  std::vector<std::int32_t> seats = permutation(spec.num_ranks, spec.ranks_seed, spec.permutation);
  if (spec.participants.empty()) return seats;
  std::vector<bool> plays(seats.size());
  for (const std::int32_t rank : spec.participants) plays[static_cast<std::size_t>(rank)] = true;
  std::erase_if(seats, [&plays](std::int32_t rank) { return !plays[static_cast<std::size_t>(rank)]; });
  return seats;
}

/// How the items of a schedule, groups or single participants, meet.
Matching matching_of(const Spec& spec, std::int64_t num_items) {
  if (num_items == 1 && !spec.group_of.empty()) {
    throw Error(ExitStatus::bad_command_line, "all ranks are on one host, so there is no pair between hosts");
  }
  if (num_items == 1 && spec.bisection) {
    throw Error(ExitStatus::bad_command_line, "a bisection needs two ranks", "only one takes part");
  }
  return spec.bisection ? Matching::halves(num_items - num_items / 2, num_items / 2) : Matching::circle(num_items);
}

}  // namespace

Schedule::Schedule(Spec spec)
    : num_ranks_(spec.num_ranks), matching_(Matching::circle(1), Groups::alike(1, 1), Form::parallel) {
  check_num_ranks(spec.num_ranks);
  if (spec.sample) {
    if (spec.num_ranks == 1) {
      throw Error(ExitStatus::bad_command_line, "randomly sampled rounds need two ranks", "only one takes part");
    }
    sampled_.emplace(spec.host_of, std::move(*spec.sample));
    return;
  }
  take_seats(spec);
  choose_rounds(std::move(spec));
}

void Schedule::take_seats(const Spec& spec) {
  seat_to_rank_ = seated_participants(spec);
  is_shift_ = spec.shift;
  if (is_shift_ && num_seats() == 1) {
    throw Error(ExitStatus::bad_command_line, "a shift needs two ranks", "only one takes part");
  }
  if (!is_shift_) {
    Groups groups = spec.group_of.empty() ? Groups::alike(num_seats(), 1) : sit_in_groups(spec.group_of);
    const Matching outer = matching_of(spec, groups.num_groups());
    matching_ = GroupMatching(outer, std::move(groups), spec.serial ? Form::serial : Form::parallel);
  }

  if (seat_to_rank_.empty()) return;
  rank_to_seat_.assign(static_cast<std::size_t>(num_ranks_), -1);
  for (std::int64_t seat = 0; seat < num_seats(); ++seat) {
    rank_to_seat_[static_cast<std::size_t>(rank_on(seat))] = static_cast<std::int32_t>(seat);
  }
}

/// Moves the seats of every group together, in the order of the groups' first seats.
Groups Schedule::sit_in_groups(std::span<const std::uint32_t> group_of) {
  assert(group_of.size() == static_cast<std::size_t>(num_ranks_));
  std::unordered_map<std::uint32_t, std::int32_t> numbers;
  std::vector<std::int32_t> sizes;
  std::vector<std::int32_t> group_of_seat(static_cast<std::size_t>(num_seats()));
  for (std::int64_t seat = 0; seat < num_seats(); ++seat) {
    const std::uint32_t name = group_of[static_cast<std::size_t>(rank_on(seat))];
    const std::int32_t group = numbers.try_emplace(name, static_cast<std::int32_t>(sizes.size())).first->second;
    group_of_seat[static_cast<std::size_t>(seat)] = group;
    sizes.resize(numbers.size());
    ++sizes[static_cast<std::size_t>(group)];
  }
  std::vector<std::int32_t> next_seat(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), next_seat.begin(), 0);
  std::vector<std::int32_t> moved(group_of_seat.size());
  for (std::int64_t seat = 0; seat < num_seats(); ++seat) {
    const auto group = static_cast<std::size_t>(group_of_seat[static_cast<std::size_t>(seat)]);
    moved[static_cast<std::size_t>(next_seat[group]++)] = rank_on(seat);
  }
  seat_to_rank_ = std::move(moved);
  return Groups(sizes);
}

void Schedule::choose_rounds(Spec&& spec) {
  const std::int64_t num_all = num_all_rounds();
  if (!spec.rounds.empty()) {
    check_rounds(spec.rounds, num_all);
    order_ = std::move(spec.rounds);
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
  Random(spec.rounds_seed, rounds_stream).shuffle(order_);
}

std::int64_t Schedule::num_all_rounds() const { return is_shift_ ? num_seats() - 1 : matching_.num_rounds(); }

std::int64_t Schedule::num_seats() const {
  return seat_to_rank_.empty() ? num_ranks_ : static_cast<std::int64_t>(seat_to_rank_.size());
}

int Schedule::rank_on(std::int64_t seat) const {
  return seat_to_rank_.empty() ? static_cast<int>(seat) : seat_to_rank_[static_cast<std::size_t>(seat)];
}

std::int64_t Schedule::seat_of(int rank) const {
  return rank_to_seat_.empty() ? rank : rank_to_seat_[static_cast<std::size_t>(rank)];
}

std::int64_t Schedule::num_rounds() const {
  if (sampled_) return sampled_->num_rounds();
  return order_.empty() ? num_all_rounds() : static_cast<std::int64_t>(order_.size());
}

std::int64_t Schedule::number_of(std::int64_t round) const {
  assert(round >= 0 && round < num_rounds());
  return order_.empty() ? round + 1 : order_[static_cast<std::size_t>(round)];
}

std::optional<Pairing> Schedule::pairing(int rank, std::int64_t round) const {
  assert(rank >= 0 && rank < num_ranks_);
  if (sampled_) {
    const auto seat = sampled_->seat(rank, round);
    return seat ? std::optional(Pairing{seat->partner, seat->leads}) : std::nullopt;
  }
  const std::int64_t seat = seat_of(rank);
  if (seat < 0) return std::nullopt;
  if (is_shift_) return Pairing{rank_on((seat + number_of(round)) % num_seats()), true};
  const auto opponent = matching_.opponent(seat, number_of(round) - 1);
  if (!opponent) return std::nullopt;
  return Pairing{rank_on(opponent->item), opponent->leads};
}

std::optional<int> Schedule::source(int rank, std::int64_t round) const {
  assert(is_shift_ && rank >= 0 && rank < num_ranks_);
  const std::int64_t seat = seat_of(rank);
  if (seat < 0) return std::nullopt;
  return rank_on((seat + num_seats() - number_of(round)) % num_seats());
}

std::vector<Pair> Schedule::pairs(std::int64_t round) const {
  std::vector<Pair> result;
  if (is_shift_) {
    for (std::int64_t seat = 0; seat < num_seats(); ++seat) {
      result.push_back({rank_on(seat), rank_on((seat + number_of(round)) % num_seats())});
    }
    return result;
  }
  if (sampled_) {
    for (const auto& pair : sampled_->pairs(round)) result.push_back({pair.leader, pair.other});
    return result;
  }
  for (const ItemPair& pair : matching_.pairs(number_of(round) - 1)) {
    result.push_back({rank_on(pair.leader), rank_on(pair.other)});
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
