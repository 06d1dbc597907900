// SPDX-License-Identifier: Apache-2.0
// Who meets whom among n items, across two halves, or among groups and inside each pairing of two groups: pure
// arithmetic without memory for pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace leadline::schedule {

/// What an item has before it in a round.
struct Opponent {
  std::int64_t item = 0;
  bool leads = false;  ///< whether the item that was asked about leads, not the opponent
};

struct ItemPair {
  std::int64_t leader = 0, other = 0;
  bool operator==(const ItemPair&) const = default;
};

/// Rounds (from 0) of pairs. Every two items that may meet do so in exactly one round, nobody is in two pairs of a
/// round. The pairs of a round sit at tables 0..num_tables()-1; every round has as many. Items, rounds and tables
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

  ItemPair pair(std::int64_t round, std::int64_t table) const;

 private:
  Matching(std::int64_t num_first, std::int64_t num_second, std::int64_t num_rounds, std::int64_t num_tables)
      : num_first_(num_first), num_second_(num_second), num_rounds_(num_rounds), num_tables_(num_tables) {}

  bool is_circle() const { return num_second_ == 0; }
  std::int64_t on_chair(std::int64_t chair, std::int64_t round) const;
  std::int64_t chair_of(std::int64_t item, std::int64_t round) const;
  std::optional<Opponent> circle_opponent(std::int64_t item, std::int64_t round) const;
  std::optional<Opponent> halves_opponent(std::int64_t item, std::int64_t round) const;
  ItemPair circle_pair(std::int64_t round, std::int64_t table) const;

  std::int64_t num_first_, num_second_;  ///< all items and 0 for the circle
  std::int64_t num_rounds_, num_tables_;
};

/// Items 0..n-1 cut into groups, one behind the other.
class Groups {
 public:
  static Groups alike(std::int64_t num_groups, std::int64_t size);

  /// 4 bytes a group where the sizes (>= 1) differ, none where they are alike.
  explicit Groups(const std::vector<std::int32_t>& sizes);

  bool are_alike() const { return begins_.empty(); }
  std::int64_t num_groups() const { return num_groups_; }
  std::int64_t size_of(std::int64_t group) const;
  std::int64_t begin_of(std::int64_t group) const;

  /// O(1) where the sizes are alike, O(log groups) otherwise.
  std::int64_t group_of(std::int64_t item) const;

 private:
  Groups() = default;

  std::int64_t num_groups_ = 0;
  std::int64_t size_ = 0;             ///< of each, where they are alike
  std::vector<std::int32_t> begins_;  ///< empty = alike; the last one is the end
};

enum class Form : std::uint8_t {
  parallel,  ///< all pairs of a round at once
  serial,    ///< one pair a round, in the order in which pairs() of the parallel form lists them
};

/// Groups meet in group rounds as `outer` says. A group round takes as many rounds as the largest group that plays in
/// it has members; in these the members of two groups that meet are two halves, those of the leading group the first.
/// A pair of smaller groups rests when it is done. A single group meets itself only if it has one member.
///
/// Groups of one are how plain matchings are served too. Where sizes are alike everything is O(1). Otherwise parallel:
/// O(log groups); serial: O(groups), 8 bytes a group round, and groups x (groups of another size than most) steps to
/// construct.
class GroupMatching {
 public:
  /// `outer` matches as many items as there are groups; its halves, if any, differ by at most one.
  GroupMatching(Matching outer, Groups groups, Form form);

  std::int64_t num_rounds() const;

  /// Nothing where the item rests.
  std::optional<Opponent> opponent(std::int64_t item, std::int64_t round) const;

  std::vector<ItemPair> pairs(std::int64_t round) const;

 private:
  /// Where a round of the parallel form stands.
  struct GroupPosition {
    std::int64_t group_round = 0;
    std::int64_t inner_round = 0;
  };

  void find_short_round();
  void count_pairs();
  GroupPosition place_of(std::int64_t round) const;
  Matching inner(const ItemPair& groups) const;
  ItemPair pair_at(const ItemPair& groups, std::int64_t inner_round, std::int64_t inner_table) const;
  std::int64_t smaller_partner_size(std::int64_t group, std::int64_t group_round) const;
  ItemPair nth_pair(std::int64_t index) const;
  ItemPair nth_pair_of(std::int64_t group_round, std::int64_t index) const;

  Matching outer_;
  Groups groups_;
  Form form_;
  std::int64_t largest_ = 1;  ///< rounds of a group round

  // In the one group round in which the only largest group rests, the second largest decides.
  std::int64_t short_group_round_ = -1;
  std::int64_t short_length_ = 0;

  // Serial, sizes not alike.
  std::vector<std::int64_t> pairs_before_;  ///< by group round; the last one counts all
  std::vector<std::int32_t> by_size_;       ///< groups, smallest first
};

}  // namespace leadline::schedule
