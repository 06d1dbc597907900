// SPDX-License-Identifier: Apache-2.0
// The circle method and its counterpart across two halves.
//
// Circle: n items, n even, or one more with a ghost as the last one, meet in n-1 rounds. Item 0 keeps its place; in
// round r item i >= 1 sits on chair (i+r) mod (n-1). Chair 0 faces item 0; chair q >= 1 faces chair n-1-q. That couple
// has place min(q, n-1-q), item 0's has place 0, and on each the item on the lower chair, or item 0, leads. Tables are
// the places without the ghost's.
#include "schedule/matching.hpp"

#include <algorithm>
#include <cassert>

namespace leadline::schedule {

Matching Matching::circle(std::int64_t num_items) {
  assert(num_items >= 1);
  return {num_items, 0, num_items - 1 + num_items % 2, std::max<std::int64_t>(1, num_items / 2)};
}

Matching Matching::halves(std::int64_t num_first, std::int64_t num_second) {
  assert(num_first >= 1 && num_second >= 1);
  return {num_first, num_second, std::max(num_first, num_second), std::min(num_first, num_second)};
}

std::optional<Opponent> Matching::opponent(std::int64_t item, std::int64_t round) const {
  assert(item >= 0 && item < num_items() && round >= 0 && round < num_rounds());
  return is_circle() ? circle_opponent(item, round) : halves_opponent(item, round);
}

Couple Matching::couple(std::int64_t round, std::int64_t table) const {
  assert(round >= 0 && round < num_rounds() && table >= 0 && table < num_tables());
  if (is_circle()) return circle_couple(round, table);
  if (num_first_ <= num_second_) return {table, num_first_ + (table + round) % num_rounds_};
  return {(table - round + num_rounds_) % num_rounds_, num_first_ + table};
}

/// In the circle there are as many chairs as rounds.
std::int64_t Matching::on_chair(std::int64_t chair, std::int64_t round) const {
  return 1 + (chair - 1 - round + num_rounds_) % num_rounds_;
}

std::int64_t Matching::chair_of(std::int64_t item, std::int64_t round) const { return (item + round) % num_rounds_; }

std::optional<Opponent> Matching::circle_opponent(std::int64_t item, std::int64_t round) const {
  if (num_first_ == 1) return Opponent{0, true};
  const std::int64_t chair = item == 0 ? 0 : chair_of(item, round);
  Opponent opponent;
  if (item != 0 && chair == 0) return opponent;
  opponent.item = on_chair(chair == 0 ? 0 : num_rounds_ - chair, round);
  opponent.leads = chair < num_rounds_ - chair;
  const bool is_ghost = opponent.item == num_first_;
  return is_ghost ? std::nullopt : std::optional(opponent);
}

std::optional<Opponent> Matching::halves_opponent(std::int64_t item, std::int64_t round) const {
  if (item < num_first_) {
    const std::int64_t other = num_first_ + (item + round) % num_rounds_;
    return other < num_items() ? std::optional(Opponent{other, true}) : std::nullopt;
  }
  const std::int64_t other = (item - num_first_ - round + num_rounds_) % num_rounds_;
  return other < num_first_ ? std::optional(Opponent{other, false}) : std::nullopt;
}

Couple Matching::circle_couple(std::int64_t round, std::int64_t table) const {
  if (num_first_ == 1) return {0, 0};
  std::int64_t place = table;
  if (num_first_ % 2 == 1) {
    const std::int64_t ghost = chair_of(num_first_, round);
    if (place >= std::min(ghost, num_rounds_ - ghost)) ++place;
  }
  return {place == 0 ? 0 : on_chair(place, round), on_chair(place == 0 ? 0 : num_rounds_ - place, round)};
}

}  // namespace leadline::schedule
