// SPDX-License-Identifier: Apache-2.0
// Circles and halves of up to 64 items: every pair once, nobody twice in a round, all questions answered alike.
#include "schedule/matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace leadline::schedule {
namespace {

using testing::ElementsAre;

constexpr std::int64_t most_items = 64;

std::vector<ItemPair> pairs(const Matching& matching, std::int64_t round) {
  std::vector<ItemPair> result;
  for (std::int64_t table = 0; table < matching.num_tables(); ++table) result.push_back(matching.pair(round, table));
  return result;
}

/// Walks all rounds and returns how often items a and b met, at [a * n + b] and [b * n + a].
std::vector<int> pairings(const Matching& matching) {
  const std::int64_t num_items = matching.num_items();
  std::vector<int> met(static_cast<std::size_t>(num_items * num_items));
  for (std::int64_t round = 0; round < matching.num_rounds(); ++round) {
    std::int64_t num_busy = 0;
    for (std::int64_t item = 0; item < num_items; ++item) {
      const auto opponent = matching.opponent(item, round);
      if (!opponent) continue;
      ++num_busy;
      ++met.at(static_cast<std::size_t>(item * num_items + opponent->item));
      const auto back = matching.opponent(opponent->item, round);
      const bool one_leads = back && (back->leads != opponent->leads || opponent->item == item);
      EXPECT_TRUE(one_leads && back->item == item) << "round " << round << ", item " << item;
    }
    EXPECT_EQ(num_busy, num_items == 1 ? 1 : 2 * matching.num_tables()) << "round " << round;
    for (const ItemPair& pair : pairs(matching, round)) {
      const auto opponent = matching.opponent(pair.leader, round);
      EXPECT_TRUE(opponent && opponent->item == pair.other && opponent->leads) << "round " << round;
    }
  }
  return met;
}

TEST(circle, lets_every_two_items_meet_once) {
  for (std::int64_t num_items = 2; num_items <= most_items; ++num_items) {
    SCOPED_TRACE(num_items);
    const Matching matching = Matching::circle(num_items);
    EXPECT_EQ(matching.num_items(), num_items);
    EXPECT_EQ(matching.num_rounds(), num_items % 2 == 0 ? num_items - 1 : num_items);
    EXPECT_EQ(matching.num_tables(), num_items / 2);
    const std::vector<int> met = pairings(matching);
    for (std::int64_t a = 0; a < num_items; ++a) {
      for (std::int64_t b = 0; b < num_items; ++b) {
        ASSERT_EQ(met[static_cast<std::size_t>(a * num_items + b)], a == b ? 0 : 1) << a << "-" << b;
      }
    }
  }
}

TEST(circle, of_one_is_one_meeting_with_itself) {
  const Matching matching = Matching::circle(1);
  EXPECT_EQ(matching.num_rounds(), 1);
  EXPECT_THAT(pairs(matching, 0), ElementsAre(ItemPair{0, 0}));
  EXPECT_THAT(pairings(matching), ElementsAre(1));
}

TEST(circle, seats_five_as_six_with_a_ghost) {
  const Matching five = Matching::circle(5);
  EXPECT_THAT(pairs(five, 0), ElementsAre(ItemPair{1, 4}, ItemPair{2, 3}));
  EXPECT_FALSE(five.opponent(0, 0).has_value());
  EXPECT_THAT(pairs(five, 1), ElementsAre(ItemPair{0, 4}, ItemPair{1, 2}));
  EXPECT_FALSE(five.opponent(3, 1).has_value());
}

TEST(halves, let_every_item_of_one_meet_every_item_of_the_other_once) {
  for (std::int64_t num_first = 1; num_first <= 20; ++num_first) {
    for (std::int64_t num_second = 1; num_second <= 20; ++num_second) {
      SCOPED_TRACE(testing::Message() << num_first << " against " << num_second);
      const Matching matching = Matching::halves(num_first, num_second);
      const std::int64_t num_items = num_first + num_second;
      ASSERT_EQ(matching.num_items(), num_items);
      ASSERT_EQ(matching.num_rounds(), std::max(num_first, num_second));
      ASSERT_EQ(matching.num_tables(), std::min(num_first, num_second));
      const std::vector<int> met = pairings(matching);
      for (std::int64_t a = 0; a < num_items; ++a) {
        for (std::int64_t b = 0; b < num_items; ++b) {
          const bool across = (a < num_first) != (b < num_first);
          ASSERT_EQ(met[static_cast<std::size_t>(a * num_items + b)], across ? 1 : 0) << a << "-" << b;
        }
      }
      for (std::int64_t item = 0; item < num_items; ++item) {
        const auto opponent = matching.opponent(item, matching.num_rounds() - 1);
        ASSERT_TRUE(!opponent || opponent->leads == (item < num_first));
      }
    }
  }
}

TEST(halves, shift_by_one_a_round) {
  EXPECT_THAT(pairs(Matching::halves(3, 3), 1), ElementsAre(ItemPair{0, 4}, ItemPair{1, 5}, ItemPair{2, 3}));
  EXPECT_THAT(pairs(Matching::halves(3, 2), 1), ElementsAre(ItemPair{2, 3}, ItemPair{0, 4}));
  EXPECT_THAT(pairs(Matching::halves(1, 3), 2), ElementsAre(ItemPair{0, 3}));
}

TEST(matchings, of_two_thousand_million_items_do_not_overflow) {
  const std::int64_t most = std::int64_t{1} << 31;
  for (const Matching& matching : {Matching::circle(most), Matching::circle(most - 1), Matching::halves(most / 2, 5),
                                   Matching::halves(7, most / 2)}) {
    for (const std::int64_t round : {std::int64_t{0}, matching.num_rounds() / 3, matching.num_rounds() - 1}) {
      for (const std::int64_t table : {std::int64_t{0}, matching.num_tables() / 3, matching.num_tables() - 1}) {
        const ItemPair pair = matching.pair(round, table);
        ASSERT_EQ(matching.opponent(pair.leader, round)->item, pair.other);
        ASSERT_EQ(matching.opponent(pair.other, round)->item, pair.leader);
      }
    }
  }
}

}  // namespace
}  // namespace leadline::schedule
