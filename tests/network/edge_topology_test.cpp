// SPDX-License-Identifier: Apache-2.0
// Lists of cables: who is a host, which distances follow, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check.hpp"
#include "network/parse_network.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Network cabled(const std::string& text) {
  Network network = parse_edge_topology("my.cables", text);
  expect_sound(network);
  EXPECT_EQ(network.source, "my.cables");
  return network;
}

std::string cable_refusal(const std::string& text) {
  return test::refusal_of([&] { parse_edge_topology("my.cables", text); }, {text});
}

TEST(edge_topology, has_hosts_with_one_cable) {
  const Network network = cabled(
      "# two leaves, one spine with fat cables\n"
      "node01 leaf1 100\nnode02 leaf1 100\nnode03 leaf2 1e2\nleaf2 node04 +100   # turned round\n"
      "leaf1  spine 200\r\nleaf2\tspine 200\n");
  EXPECT_THAT(network.hosts, ElementsAre("node01", "node02", "node03", "node04"));
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch"));
  EXPECT_THAT(groups_of(network.levels[0]), ElementsAre("leaf1", "leaf1", "leaf2", "leaf2"));
  EXPECT_THAT(network.hops, IsEmpty());
  EXPECT_EQ(num_distances(network), 2U);
}

TEST(edge_topology, takes_the_hosts_that_it_names) {
  const Network network = cabled("a s\nb s\nc s\nhosts: c\nhosts: a\n");
  EXPECT_THAT(network.hosts, ElementsAre("c", "a"));
  EXPECT_THAT(network.levels[0].names, ElementsAre("s"));
  EXPECT_EQ(num_distances(network), 1U);
}

TEST(edge_topology, finds_pods_of_a_fat_tree) {
  std::string text;
  for (int leaf = 0; leaf < 4; ++leaf) {
    const std::string name = "l" + std::to_string(leaf);
    text += "n" + std::to_string(leaf) + " " + name + "\n";
    for (const char* spine : {"a", "b"}) text += name + " p" + std::to_string(leaf / 2) + spine + "\n";
  }
  for (const char* spine : {"a", "b"}) {
    for (const char* pod : {"p0", "p1"}) text += std::string(pod) + spine + " core-" + spine + "\n";
  }
  const Network network = cabled(text);
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch", "pod"));
  EXPECT_THAT(groups_of(network.levels[1]), ElementsAre("l0+1", "l0+1", "l2+1", "l2+1"));
  EXPECT_THAT(network.hops, IsEmpty());
  EXPECT_EQ(name_of_distance(network, distance(network, 1, 2)), "different pods");
}

TEST(edge_topology, numbers_further_levels) {
  // A binary tree of four heights.
  std::string text;
  for (int node = 2; node < 32; ++node) {
    text += std::to_string(node) + " " + std::to_string(node / 2) + "\n";
  }
  const Network network = cabled(text);
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch", "pod", "level-3 group"));
  EXPECT_THAT(network.levels[1].names, ElementsAre("8+1", "10+1", "12+1", "14+1"));
  EXPECT_THAT(network.levels[2].names, ElementsAre("8+3", "12+3"));
}

TEST(edge_topology, counts_hops_where_there_is_no_tree) {
  const Network network = cabled("a 1\nb 2\nc 3\nd 4\nd2 4\n1 2\n2 3\n3 4\n");
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch"));
  EXPECT_THAT(network.hops, ElementsAre(0, 1, 2, 3, 1, 0, 1, 2, 2, 1, 0, 1, 3, 2, 1, 0));
  EXPECT_EQ(name_of_distance(network, distance(network, 0, 4)), "3 hops");
}

TEST(edge_topology, names_the_line_that_is_wrong) {
  EXPECT_THAT(cable_refusal("a s\nb\n"), AllOf(HasSubstr("cannot use 'my.cables' as a network (line 2: 1 word)"),
                                               HasSubstr("A line is: NODE NODE [CAPACITY]")));
  EXPECT_THAT(cable_refusal("a s 1 1"), HasSubstr("line 1: 4 words"));
  EXPECT_THAT(cable_refusal("a a"), HasSubstr("line 1: the cable leads from 'a' to itself"));
  EXPECT_THAT(cable_refusal("a s\nb s\ns a 3"), HasSubstr("line 3: 's' and 'a' have a cable in line 1 already"));
  for (const char* capacity : {"0", "-1", "x", "nan", "inf", "1e101", "1e-101", "1e999", "1x", "+"}) {
    EXPECT_THAT(cable_refusal(std::string("a s ") + capacity), HasSubstr("is no capacity")) << capacity;
  }
  EXPECT_THAT(cable_refusal("a s\nb s\nhosts: a\nhosts: b a"), HasSubstr("line 4: host 'a' is named twice"));
  EXPECT_THAT(cable_refusal("a s\nb s\nhosts: a s"), HasSubstr("line 3: host 's' has 2 cables"));
  EXPECT_THAT(cable_refusal("a s\nb s\nhosts: a q"), HasSubstr("line 3: host 'q' has 0 cables"));
  EXPECT_THAT(cable_refusal("# none\nhosts: a\n"), HasSubstr("it has no cable"));
  EXPECT_THAT(cable_refusal("a s\nb s\nhosts: a"), HasSubstr("it has 1 hosts, which are named"));
  EXPECT_THAT(cable_refusal("a b\nb c\nc a"), HasSubstr("it has 0 hosts, which are nodes with one cable"));
  EXPECT_THAT(cable_refusal("a s\nb s\nc d"), HasSubstr("line 3: both ends, 'c' and 'd', are hosts"));
  EXPECT_THAT(cable_refusal("a s\nb s\nc t\nd t"),
              AllOf(HasSubstr("no cables lead from a to c"), HasSubstr("All hosts must reach each other")));
}

TEST(edge_topology, refuses_distances_that_cannot_be_told) {
  std::string chain = "a 0\nb 300\n";
  for (int node = 0; node < 300; ++node) chain += std::to_string(node) + " " + std::to_string(node + 1) + "\n";
  EXPECT_THAT(cable_refusal(chain), HasSubstr("a and b are 300 hops apart, at most 255"));
  std::string wide;
  for (int leaf = 0; leaf < 8193; ++leaf) {
    wide += "n" + std::to_string(leaf) + " l" + std::to_string(leaf) + "\nl" + std::to_string(leaf) + " top\n";
  }
  EXPECT_THAT(cable_refusal(wide), HasSubstr("8193 switches with hosts"));
  EXPECT_THAT(cable_refusal("a x\nb y\nc x+1\nx p\ny p\np top\nx+1 q\nq top\n"),
              HasSubstr("two of its pods would be called x+1"));
}

}  // namespace
}  // namespace leadline::network
