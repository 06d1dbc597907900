// SPDX-License-Identifier: Apache-2.0
// Who meets whom among n items, or across two halves: pure arithmetic, every answer in constant time without memory.
#pragma once

#include <cstdint>
#include <optional>

namespace leadline::schedule {

/// What an item has before it in a round.
struct Opponent {
  std::int64_t item = 0;
  bool leads = false;  ///< whether the item that was asked about leads, not the opponent
};

struct Couple {
  std::int64_t leader = 0, other = 0;
  bool operator==(const Couple&) const = default;
};

/// Rounds (from 0) of couples. Every two items that may meet do so in exactly one round, nobody is in two couples of a
/// round. The couples of a round sit at tables 0..num_tables()-1; every round has as many. Items, rounds and tables
/// that are passed in must exist. Exact up to 2^31 items.
class Matching {
 public:
  /// All pairs of n >= 1 items by the circle method; item 0 stands still. n even: n-1 rounds. n odd: n rounds, each
  /// item rests in one of them. n = 1: one round, in which item 0 meets itself.
  static Matching circle(std::int64_t num_items);

  /// Items 0..a-1 against a..a+b-1, both at least one. As many rounds as the larger half has items; in round r item i
  /// meets item a + (i + r) modulo that number, or rests where there is none. The first half always leads.
  static Matching halves(std::int64_t num_first, std::int64_t num_second);

  std::int64_t num_items() const { return num_first_ + num_second_; }
  std::int64_t num_rounds() const { return num_rounds_; }
  std::int64_t num_tables() const { return num_tables_; }

  /// Nothing where the item rests.
  std::optional<Opponent> opponent(std::int64_t item, std::int64_t round) const;

  Couple couple(std::int64_t round, std::int64_t table) const;

 private:
  Matching(std::int64_t num_first, std::int64_t num_second, std::int64_t num_rounds, std::int64_t num_tables)
      : num_first_(num_first), num_second_(num_second), num_rounds_(num_rounds), num_tables_(num_tables) {}

  bool is_circle() const { return num_second_ == 0; }
  std::int64_t on_chair(std::int64_t chair, std::int64_t round) const;
  std::int64_t chair_of(std::int64_t item, std::int64_t round) const;
  std::optional<Opponent> circle_opponent(std::int64_t item, std::int64_t round) const;
  std::optional<Opponent> halves_opponent(std::int64_t item, std::int64_t round) const;
  Couple circle_couple(std::int64_t round, std::int64_t table) const;

  std::int64_t num_first_, num_second_;  ///< all items and 0 for the circle
  std::int64_t num_rounds_, num_tables_;
};

}  // namespace leadline::schedule
