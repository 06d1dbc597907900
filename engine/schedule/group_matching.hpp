// SPDX-License-Identifier: Apache-2.0
// Who meets whom where groups meet, and inside each meeting of two groups their members: a matching of matchings.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/matching.hpp"

namespace leadline::schedule {

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
  parallel,  ///< all couples of a round at once
  serial,    ///< one couple a round, in the order in which couples() of the parallel form lists them
};

/// Groups meet in group rounds as `outer` says. A group round takes as many rounds as the largest group that plays in
/// it has members; in these the members of two groups that meet are two halves, those of the leading group the first.
/// A couple of smaller groups rests when it is done. A single group meets itself only if it has one member.
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

  std::vector<Couple> couples(std::int64_t round) const;

 private:
  /// Where a round of the parallel form stands.
  struct GroupPosition {
    std::int64_t group_round = 0;
    std::int64_t inner_round = 0;
  };

  void find_short_round();
  void count_couples();
  GroupPosition place_of(std::int64_t round) const;
  Matching inner(const Couple& groups) const;
  Couple couple_at(const Couple& groups, std::int64_t inner_round, std::int64_t inner_table) const;
  std::int64_t smaller_partner_size(std::int64_t group, std::int64_t group_round) const;
  Couple nth_couple(std::int64_t index) const;
  Couple nth_couple_of(std::int64_t group_round, std::int64_t index) const;

  Matching outer_;
  Groups groups_;
  Form form_;
  std::int64_t largest_ = 1;  ///< rounds of a group round

  // In the one group round in which the only largest group rests, the second largest decides.
  std::int64_t short_group_round_ = -1;
  std::int64_t short_length_ = 0;

  // Serial, sizes not alike.
  std::vector<std::int64_t> couples_before_;  ///< by group round; the last one counts all
  std::vector<std::int32_t> by_size_;         ///< groups, smallest first
};

}  // namespace leadline::schedule
