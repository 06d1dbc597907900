// SPDX-License-Identifier: Apache-2.0
// How far apart hosts are, by levels and by hops, and what that is called.
#include "network/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check.hpp"

namespace leadline::network {
namespace {

Network two_pods() {
  return {"by hand",
          {"a", "b", "c", "d", "e"},
          {{"leaf switch", {"l0", "l1", "l2"}, {0, 0, 1, 1, 2}}, {"pod", {"p0", "p1"}, {0, 0, 0, 0, 1}}},
          {}};
}

TEST(distance, is_the_first_level_that_two_hosts_share) {
  const Network network = two_pods();
  expect_sound(network);
  EXPECT_EQ(distance(network, 0, 0), 0U);
  EXPECT_EQ(distance(network, 0, 1), 0U);
  EXPECT_EQ(distance(network, 1, 2), 1U);
  EXPECT_EQ(distance(network, 2, 1), 1U);
  EXPECT_EQ(distance(network, 3, 4), 2U);
  EXPECT_EQ(num_distances(network), 3U);
  EXPECT_EQ(name_of_distance(network, 0), "same leaf switch");
  EXPECT_EQ(name_of_distance(network, 1), "same pod");
  EXPECT_EQ(name_of_distance(network, 2), "different pods");
}

TEST(distance, ends_where_all_hosts_are_in_one_group) {
  Network network = two_pods();
  network.levels[1] = {"pod", {"p0"}, {0, 0, 0, 0, 0}};
  EXPECT_EQ(num_distances(network), 2U);
  EXPECT_EQ(name_of_distance(network, 1), "same pod");
  network.levels.pop_back();
  EXPECT_EQ(num_distances(network), 2U);
  EXPECT_EQ(name_of_distance(network, 1), "different leaf switches");
  network.levels[0] = {"leaf switch", {"l0"}, {0, 0, 0, 0, 0}};
  EXPECT_EQ(num_distances(network), 1U);
}

TEST(distance, counts_hops_where_there_are_any) {
  Network network = two_pods();
  network.levels.pop_back();
  network.hops = {0, 1, 3, 1, 0, 2, 3, 2, 0};
  expect_sound(network);
  EXPECT_EQ(distance(network, 0, 1), 0U);
  EXPECT_EQ(distance(network, 0, 2), 1U);
  EXPECT_EQ(distance(network, 4, 3), 2U);
  EXPECT_EQ(distance(network, 4, 0), 3U);
  EXPECT_EQ(num_distances(network), 4U);
  EXPECT_EQ(name_of_distance(network, 0), "same leaf switch");
  EXPECT_EQ(name_of_distance(network, 1), "1 hop");
  EXPECT_EQ(name_of_distance(network, 3), "3 hops");
}

TEST(distance, is_one_where_nothing_is_known) {
  const Network network{"nothing", {"a", "b"}, {}, {}};
  EXPECT_EQ(num_distances(network), 1U);
  EXPECT_EQ(distance(network, 0, 1), 0U);
  EXPECT_EQ(name_of_distance(network, 0), "between hosts");
}

}  // namespace
}  // namespace leadline::network
