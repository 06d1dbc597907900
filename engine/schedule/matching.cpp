// SPDX-License-Identifier: Apache-2.0
// The circle method and its counterpart across two halves, for single items and for groups.
//
// Circle: n items, n even, or one more with a ghost as the last one, meet in n-1 rounds. Item 0 keeps its place; in
// round r item i >= 1 sits on chair (i+r) mod (n-1). Chair 0 faces item 0; chair q >= 1 faces chair n-1-q. That pair
// has place min(q, n-1-q), item 0's has place 0, and on each the item on the lower chair, or item 0, leads. Tables are
// the places without the ghost's.
#include "schedule/matching.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

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

ItemPair Matching::pair(std::int64_t round, std::int64_t table) const {
  assert(round >= 0 && round < num_rounds() && table >= 0 && table < num_tables());
  if (is_circle()) return circle_pair(round, table);
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

ItemPair Matching::circle_pair(std::int64_t round, std::int64_t table) const {
  if (num_first_ == 1) return {0, 0};
  std::int64_t place = table;
  if (num_first_ % 2 == 1) {
    const std::int64_t ghost = chair_of(num_first_, round);
    if (place >= std::min(ghost, num_rounds_ - ghost)) ++place;
  }
  return {place == 0 ? 0 : on_chair(place, round), on_chair(place == 0 ? 0 : num_rounds_ - place, round)};
}

Groups Groups::alike(std::int64_t num_groups, std::int64_t size) {
  Groups groups;
  groups.num_groups_ = num_groups;
  groups.size_ = size;
  return groups;
}

Groups::Groups(const std::vector<std::int32_t>& sizes) : num_groups_(static_cast<std::int64_t>(sizes.size())) {
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end()) {
    size_ = sizes.empty() ? 0 : sizes.front();
    return;
  }
  begins_.resize(sizes.size() + 1);
  std::partial_sum(sizes.begin(), sizes.end(), begins_.begin() + 1);
}

std::int64_t Groups::size_of(std::int64_t group) const {
  return are_alike() ? size_ : begin_of(group + 1) - begin_of(group);
}

std::int64_t Groups::begin_of(std::int64_t group) const {
  return are_alike() ? group * size_ : begins_[static_cast<std::size_t>(group)];
}

std::int64_t Groups::group_of(std::int64_t item) const {
  if (are_alike()) return item / size_;
  return std::distance(begins_.begin(), std::upper_bound(begins_.begin(), begins_.end(), item)) - 1;
}

GroupMatching::GroupMatching(Matching outer, Groups groups, Form form)
    : outer_(outer), groups_(std::move(groups)), form_(form) {
  assert(outer_.num_items() == groups_.num_groups());
  assert(groups_.num_groups() > 1 || groups_.size_of(0) == 1);
  if (groups_.are_alike()) {
    largest_ = groups_.size_of(0);
    return;
  }
  find_short_round();
  if (form_ == Form::serial) count_pairs();
}

void GroupMatching::find_short_round() {
  std::int64_t largest_group = 0, second = 0;
  largest_ = 0;
  for (std::int64_t group = 0; group < groups_.num_groups(); ++group) {
    const std::int64_t size = groups_.size_of(group);
    second = std::max(second, std::min(size, largest_));
    if (size <= largest_) continue;
    largest_ = size;
    largest_group = group;
  }
  if (second == largest_) return;
  for (std::int64_t group_round = 0; group_round < outer_.num_rounds(); ++group_round) {
    if (outer_.opponent(largest_group, group_round)) continue;
    short_group_round_ = group_round;
    short_length_ = second;
  }
}

/// Most hosts are alike, so all group rounds are counted as if every group had the usual size, then put right for the
/// others.
void GroupMatching::count_pairs() {
  by_size_.resize(static_cast<std::size_t>(groups_.num_groups()));
  std::iota(by_size_.begin(), by_size_.end(), 0);
  std::stable_sort(by_size_.begin(), by_size_.end(),
                   [this](std::int32_t a, std::int32_t b) { return groups_.size_of(a) < groups_.size_of(b); });

  std::int64_t usual = 0, most = 0, alike = 0, previous = 0;
  std::vector<std::int64_t> others;
  for (const std::int32_t group : by_size_) {
    const std::int64_t size = groups_.size_of(group);
    alike = size == previous ? alike + 1 : 1;
    previous = size;
    if (alike <= most) continue;
    most = alike;
    usual = size;
  }
  for (std::int64_t group = 0; group < groups_.num_groups(); ++group) {
    if (groups_.size_of(group) != usual) others.push_back(group);
  }

  pairs_before_.assign(static_cast<std::size_t>(outer_.num_rounds()) + 1, 0);
  for (std::int64_t group_round = 0; group_round < outer_.num_rounds(); ++group_round) {
    std::int64_t pairs = outer_.num_tables() * usual * usual;
    for (const std::int64_t group : others) {
      const auto opponent = outer_.opponent(group, group_round);
      if (!opponent) continue;
      const std::int64_t opponent_size = groups_.size_of(opponent->item);
      const bool counts_elsewhere = opponent_size != usual && !opponent->leads;
      if (!counts_elsewhere) pairs += groups_.size_of(group) * opponent_size - usual * usual;
    }
    const auto index = static_cast<std::size_t>(group_round);
    pairs_before_[index + 1] = pairs_before_[index] + pairs;
  }
}

std::int64_t GroupMatching::num_rounds() const {
  if (form_ == Form::parallel) {
    const std::int64_t spared = short_group_round_ < 0 ? 0 : largest_ - short_length_;
    return outer_.num_rounds() * largest_ - spared;
  }
  if (groups_.are_alike()) return outer_.num_rounds() * outer_.num_tables() * largest_ * largest_;
  return pairs_before_.back();
}

GroupMatching::GroupPosition GroupMatching::place_of(std::int64_t round) const {
  const std::int64_t short_begin = short_group_round_ * largest_;
  if (short_group_round_ >= 0 && round >= short_begin) {
    if (round < short_begin + short_length_) return {short_group_round_, round - short_begin};
    round += largest_ - short_length_;
  }
  return {round / largest_, round % largest_};
}

/// The members of two groups that meet, those of the leading group first.
Matching GroupMatching::inner(const ItemPair& groups) const {
  return Matching::halves(groups_.size_of(groups.leader), groups_.size_of(groups.other));
}

ItemPair GroupMatching::pair_at(const ItemPair& groups, std::int64_t inner_round, std::int64_t inner_table) const {
  const ItemPair members = inner(groups).pair(inner_round, inner_table);
  return {groups_.begin_of(groups.leader) + members.leader,
          groups_.begin_of(groups.other) + members.other - groups_.size_of(groups.leader)};
}

std::optional<Opponent> GroupMatching::opponent(std::int64_t item, std::int64_t round) const {
  if (form_ == Form::serial) {
    const ItemPair pair = nth_pair(round);
    if (item == pair.leader) return Opponent{pair.other, true};
    return item == pair.other ? std::optional(Opponent{pair.leader, false}) : std::nullopt;
  }
  const GroupPosition place = place_of(round);
  const std::int64_t own = groups_.group_of(item);
  const auto opponent = outer_.opponent(own, place.group_round);
  if (!opponent) return std::nullopt;
  const ItemPair groups = opponent->leads ? ItemPair{own, opponent->item} : ItemPair{opponent->item, own};
  const Matching members = inner(groups);
  if (place.inner_round >= members.num_rounds()) return std::nullopt;

  const std::int64_t size_of_leader = groups_.size_of(groups.leader);
  const std::int64_t member = item - groups_.begin_of(own);
  const auto met = members.opponent(opponent->leads ? member : size_of_leader + member, place.inner_round);
  if (!met) return std::nullopt;
  const std::int64_t other_member = opponent->leads ? met->item - size_of_leader : met->item;
  return Opponent{groups_.begin_of(opponent->item) + other_member, opponent->leads};
}

std::vector<ItemPair> GroupMatching::pairs(std::int64_t round) const {
  if (form_ == Form::serial) return {nth_pair(round)};
  const GroupPosition place = place_of(round);
  std::vector<ItemPair> result;
  result.reserve(static_cast<std::size_t>(outer_.num_tables()));
  for (std::int64_t table = 0; table < outer_.num_tables(); ++table) {
    const ItemPair groups = outer_.pair(place.group_round, table);
    const Matching members = inner(groups);
    if (place.inner_round >= members.num_rounds()) continue;
    for (std::int64_t inner_table = 0; inner_table < members.num_tables(); ++inner_table) {
      result.push_back(pair_at(groups, place.inner_round, inner_table));
    }
  }
  return result;
}

ItemPair GroupMatching::nth_pair(std::int64_t index) const {
  if (groups_.are_alike()) {
    const std::int64_t a_round = outer_.num_tables() * largest_, a_group_round = a_round * largest_;
    const std::int64_t table = index % a_round / largest_;
    return pair_at(outer_.pair(index / a_group_round, table), index % a_group_round / a_round, index % largest_);
  }
  const auto after = std::upper_bound(pairs_before_.begin(), pairs_before_.end(), index);
  const std::int64_t group_round = std::distance(pairs_before_.begin(), after) - 1;
  return nth_pair_of(group_round, index - *std::prev(after));
}

/// The size of the group that this one meets, if this one is the larger of the two; 0 otherwise. Of two alike the
/// leading one counts as the larger.
std::int64_t GroupMatching::smaller_partner_size(std::int64_t group, std::int64_t group_round) const {
  const auto opponent = outer_.opponent(group, group_round);
  if (!opponent) return 0;
  const std::int64_t size = groups_.size_of(group), opponent_size = groups_.size_of(opponent->item);
  const bool is_larger = size > opponent_size || (size == opponent_size && opponent->leads);
  return is_larger ? opponent_size : 0;
}

/// Two groups that meet give as many pairs a round as the smaller has members, for as many rounds as the larger has.
/// So from the smallest group to the largest the pairs of a round become fewer, and between two sizes they stay.
ItemPair GroupMatching::nth_pair_of(std::int64_t group_round, std::int64_t index) const {
  std::int64_t a_round = 0;
  for (const std::int32_t group : by_size_) a_round += smaller_partner_size(group, group_round);

  std::int64_t inner_round = 0;
  for (const std::int32_t group : by_size_) {
    const std::int64_t size = groups_.size_of(group);
    if (index < (size - inner_round) * a_round) break;
    const std::int64_t ends = smaller_partner_size(group, group_round);
    if (ends == 0) continue;
    index -= (size - inner_round) * a_round;
    inner_round = size;
    a_round -= ends;
  }
  inner_round += index / a_round;
  index %= a_round;

  std::int64_t table = 0;
  for (;; ++table) {
    const Matching members = inner(outer_.pair(group_round, table));
    if (inner_round >= members.num_rounds()) continue;
    if (index < members.num_tables()) break;
    index -= members.num_tables();
  }
  return pair_at(outer_.pair(group_round, table), inner_round, index);
}

}  // namespace leadline::schedule
