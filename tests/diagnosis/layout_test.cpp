// SPDX-License-Identifier: Apache-2.0
// Who is on which host and in which slot; classes of pairs by socket, host and distance.
#include "diagnosis/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up.hpp"
#include "network/parse_network.hpp"

namespace leadline::diagnosis {
namespace {

using testing::ElementsAre;

TEST(members, of_hosts_whose_ranks_are_dealt_out) {
  const Members hosts = members_of(std::vector<std::uint32_t>{0, 1, 2, 0, 1, 0});
  ASSERT_EQ(hosts.num_groups(), 3U);
  EXPECT_THAT(hosts.of(0), ElementsAre(0, 3, 5));
  EXPECT_THAT(hosts.of(1), ElementsAre(1, 4));
  EXPECT_THAT(hosts.of(2), ElementsAre(2));
  EXPECT_THAT(hosts.slot_of, ElementsAre(0, 0, 0, 1, 1, 2));
}

TEST(members, of_one_rank_and_of_none) {
  EXPECT_THAT(members_of(std::vector<std::uint32_t>{0}).of(0), ElementsAre(0));
  EXPECT_EQ(members_of({}).num_groups(), 0U);
}

TEST(pair_classes, follow_sockets_hosts_and_switches) {
  const Layout layout = layout_of(machine_of({2, 3, 4, 2}));  // ranks 0 to 7 below the first leaf switch
  const PairClasses classes(layout);
  ASSERT_EQ(classes.size(), 4U);
  EXPECT_EQ(classes.num_between(), 2U);
  EXPECT_EQ(classes.of(0, 1), PairClasses::inside_socket);
  EXPECT_EQ(classes.of(0, 2), PairClasses::inside_host);
  EXPECT_EQ(classes.of(0, 4), PairClasses::first_between);
  EXPECT_EQ(classes.of(0, 8), PairClasses::first_between + 1);
  EXPECT_EQ(classes.of(23, 0), PairClasses::first_between + 1);
  EXPECT_EQ(classes.name(0), "same socket");
  EXPECT_EQ(classes.name(1), "same host, other socket");
  EXPECT_EQ(classes.name(2), network::name_of_distance(layout.network, 0));
  EXPECT_EQ(classes.name(3), network::name_of_distance(layout.network, 1));
}

TEST(pair_classes, of_a_row_are_those_of_its_pairs) {
  Layout layout = layout_of(machine_of({2, 3, 4, 2}));
  layout.host_of = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
  const PairClasses classes(layout);
  std::vector<std::uint8_t> row(24);
  for (std::uint32_t from = 0; from < 24; ++from) {
    classes.of_row(from, row);
    for (std::uint32_t to = 0; to < 24; ++to) EXPECT_EQ(row[to], classes.of(from, to)) << from << " " << to;
  }
}

TEST(pair_classes, without_sockets_and_network_are_two) {
  Layout layout = layout_of(machine_of({4, 1, 2, 1}));
  layout.socket_of.clear();
  layout.network = {};
  const PairClasses classes(layout);
  EXPECT_EQ(classes.of(0, 1), PairClasses::inside_socket);
  EXPECT_EQ(classes.of(0, 2), PairClasses::first_between);
  EXPECT_EQ(classes.of(0, 7), PairClasses::first_between);
  EXPECT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes.name(0), "same host");
  EXPECT_EQ(classes.name(2), "between hosts");
}

TEST(pair_classes, leave_the_groups_that_are_nearer_than_they_are_far) {
  Layout layout = layout_of(machine_of({2, 4, 1, 1}));
  network::Level pod{"pod", {"a", "b"}, {0, 0, 0, 0, 1, 1, 1, 1}};
  layout.network.levels.push_back(pod);
  const PairClasses classes(layout);
  ASSERT_EQ(classes.num_between(), 3U);
  for (std::size_t level = 0; level < 2; ++level) {
    EXPECT_FALSE(classes.crosses(PairClasses::inside_socket, level));
    EXPECT_FALSE(classes.crosses(PairClasses::first_between, level));
    EXPECT_TRUE(classes.crosses(PairClasses::first_between + 2, level));
  }
  EXPECT_TRUE(classes.crosses(classes.of(0, 2), 0)) << "another leaf switch of the same pod";
  EXPECT_FALSE(classes.crosses(classes.of(0, 2), 1));
}

TEST(pair_classes, have_a_part_for_each_group_and_for_each_way_between_two) {
  Layout layout = layout_of(machine_of({1, 5, 1, 1}));  // a leaf switch each
  layout.network.levels.push_back({"pod", {"a", "b"}, {0, 0, 1, 1, 1}});
  layout.network.levels.push_back({"core", {"all"}, {0, 0, 0, 0, 0}});
  const PairClasses classes(layout);
  ASSERT_EQ(classes.num_between(), 3U);
  const auto of_pod = classes.parts_of(PairClasses::first_between + 1);
  EXPECT_THAT(of_pod.of_sender, ElementsAre(0, 1, 2, 2, 2)) << "two leaf switches meet, or three";
  EXPECT_THAT(of_pod.of_receiver, ElementsAre(1, 0, 2, 2, 2));
  const auto of_core = classes.parts_of(PairClasses::first_between + 2);
  EXPECT_THAT(of_core.of_sender, ElementsAre(0, 0, 1, 1, 1)) << "pods, also where a switch is above them";
  EXPECT_THAT(of_core.of_receiver, ElementsAre(1, 1, 0, 0, 0));
  const auto inside = classes.parts_of(PairClasses::inside_host);
  EXPECT_THAT(inside.of_sender, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(inside.of_receiver, ElementsAre(0, 0, 0, 0, 0));
}

TEST(pair_classes, far_distances_count_as_one) {
  Layout layout;
  for (std::uint32_t host = 0; host < 40; ++host) layout.host_of.push_back(host);
  layout.network = network::parse_network("torus:40", std::vector<std::string>(40));
  ASSERT_GT(network::num_distances(layout.network), 6U);
  const PairClasses classes(layout);
  EXPECT_EQ(classes.size(), PairClasses::most_classes);
  EXPECT_LT(classes.of(0, 2), classes.of(0, 4));
  EXPECT_EQ(classes.of(0, 19), PairClasses::most_classes - 1);
  EXPECT_EQ(classes.of(0, 20), PairClasses::most_classes - 1);
}

}  // namespace
}  // namespace leadline::diagnosis
