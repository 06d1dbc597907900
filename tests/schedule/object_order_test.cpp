// SPDX-License-Identifier: Apache-2.0
// Random orders of objects: each once, the same for the same seed and rank, and nothing like the order of numbers.
#include "schedule/object_order.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leadline::schedule {
namespace {

std::vector<std::uint64_t> all_of(std::uint64_t num, std::uint64_t seed, std::int32_t rank) {
  const ObjectOrder order(num, seed, rank);
  std::vector<std::uint64_t> objects;
  for (std::uint64_t position = 0; position < num; ++position) objects.push_back(order.at(position));
  return objects;
}

std::vector<bool> seen(const std::vector<std::uint64_t>& objects) {
  std::vector<bool> seen(objects.size(), false);
  for (const std::uint64_t object : objects) {
    if (object < seen.size()) seen[static_cast<std::size_t>(object)] = true;
  }
  return seen;
}

TEST(ObjectOrder, HasEachObjectOnce) {
  for (std::uint64_t num = 0; num <= 300; ++num) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{77}}) {
      EXPECT_EQ(seen(all_of(num, seed, 3)), std::vector<bool>(static_cast<std::size_t>(num), true)) << num;
    }
  }
  EXPECT_EQ(seen(all_of(70'001, 5, 0)), std::vector<bool>(70'001, true));
}

TEST(ObjectOrder, WithoutASeedIsThatOfNumbers) {
  const ObjectOrder order(1000, 0, 7);
  for (const std::uint64_t position : {0U, 1U, 999U}) EXPECT_EQ(order.at(position), position);
}

TEST(ObjectOrder, FollowsFromSeedAndRank) {
  EXPECT_EQ(all_of(100, 1, 2), all_of(100, 1, 2));
  EXPECT_NE(all_of(100, 1, 2), all_of(100, 2, 2));
  EXPECT_NE(all_of(100, 1, 2), all_of(100, 1, 3));
}

TEST(ObjectOrder, HasFewNeighboursSideBySide) {
  const std::vector<std::uint64_t> objects = all_of(10'000, 1, 0);
  std::size_t num_neighbours = 0, num_in_place = 0;
  for (std::size_t position = 0; position < objects.size(); ++position) {
    num_in_place += objects[position] == position ? 1 : 0;
    num_neighbours += position > 0 && objects[position] == objects[position - 1] + 1 ? 1 : 0;
  }
  // Of a random permutation one each is expected.
  EXPECT_LT(num_neighbours, 10u);
  EXPECT_LT(num_in_place, 10u);
}

TEST(ObjectOrder, MayBeOfAsManyAsThereAreNumbers) {
  const std::uint64_t most = ~std::uint64_t{0};
  const ObjectOrder order(most, 1, 0);
  EXPECT_LT(order.at(0), most);
  EXPECT_NE(order.at(0), order.at(1));
}

}  // namespace
}  // namespace leadline::schedule
