// SPDX-License-Identifier: Apache-2.0
// The k slowest pairs are the same whichever way they are collected.
#include "stats/slowest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace leadline::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<TimedPair> many_pairs() {
  std::vector<TimedPair> pairs;
  for (std::uint32_t from = 0; from < 8; ++from) {
    for (std::uint32_t to = 0; to < 8; ++to) pairs.push_back({from, to, static_cast<double>(from * to % 5)});
  }
  return pairs;
}

TEST(slowest, keeps_the_slowest_in_order) {
  Slowest slowest(2);
  for (const TimedPair& pair : {TimedPair{0, 1, 5}, TimedPair{0, 2, 9}, TimedPair{0, 3, 1}, TimedPair{0, 4, 7}}) {
    slowest.add(pair);
  }
  EXPECT_EQ(slowest.size(), 2u);
  EXPECT_THAT(slowest.sorted(), ElementsAre(TimedPair{0, 2, 9}, TimedPair{0, 4, 7}));
}

TEST(slowest, ties_are_broken_by_the_ranks) {
  Slowest slowest(3);
  for (const TimedPair& pair : {TimedPair{2, 1, 5}, TimedPair{1, 2, 5}, TimedPair{3, 0, 5}, TimedPair{1, 0, 5}}) {
    slowest.add(pair);
  }
  EXPECT_THAT(slowest.sorted(), ElementsAre(TimedPair{1, 0, 5}, TimedPair{1, 2, 5}, TimedPair{2, 1, 5}));
}

TEST(slowest, holds_fewer_than_its_capacity) {
  Slowest slowest(10);
  slowest.add({0, 1, 5});
  EXPECT_THAT(slowest.sorted(), ElementsAre(TimedPair{0, 1, 5}));
}

TEST(slowest, of_none_keeps_nothing) {
  Slowest slowest(0);
  slowest.add({0, 1, 5});
  EXPECT_THAT(slowest.sorted(), IsEmpty());
}

TEST(slowest, what_was_not_measured_is_not_slow) {
  Slowest slowest(2);
  slowest.add({0, 1, std::nan("")});
  slowest.add({0, 2, 1});
  EXPECT_THAT(slowest.sorted(), ElementsAre(TimedPair{0, 2, 1}));
}

TEST(slowest, order_of_arrival_does_not_matter) {
  std::vector<TimedPair> pairs = many_pairs();
  std::vector<TimedPair> expected = pairs;
  std::sort(expected.begin(), expected.end(), is_slower);
  expected.resize(10);
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::shuffle(pairs.begin(), pairs.end(), random);
    Slowest slowest(10);
    for (const TimedPair& pair : pairs) slowest.add(pair);
    EXPECT_EQ(slowest.sorted(), expected);
  }
}

TEST(slowest, merged_parts_are_as_good_as_the_whole) {
  Slowest whole(10), odd(10), even(10);
  for (const TimedPair& pair : many_pairs()) {
    whole.add(pair);
    (pair.from % 2 == 0 ? even : odd).add(pair);
  }
  Slowest merged = odd;
  merged.merge(even);
  EXPECT_EQ(merged.sorted(), whole.sorted());
  even.merge(odd.sorted());
  EXPECT_EQ(even.sorted(), whole.sorted());
}

TEST(slowest, merging_with_itself_changes_nothing) {
  Slowest slowest(5);
  slowest.add({0, 1, 5});
  slowest.merge(slowest);
  EXPECT_THAT(slowest.sorted(), ElementsAre(TimedPair{0, 1, 5}));
}

}  // namespace
}  // namespace leadline::stats
