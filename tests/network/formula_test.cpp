// SPDX-License-Identifier: Apache-2.0
// Formulas: where each host is, and what people read who wrote something wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "check.hpp"
#include "network/parse_network.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Network sound(const std::string& word) {
  Network network = formula(word);
  expect_sound(network);
  EXPECT_EQ(network.source, word);
  EXPECT_THAT(network.hosts, Each(""));
  return network;
}

std::string formula_refusal(const std::string& word) {
  return test::refusal_of([&] { formula(word); }, {word});
}

TEST(fat_tree, of_two_levels_has_leaves) {
  const Network network = sound("fat-tree:3x2");
  EXPECT_THAT(network.hosts, SizeIs(6));
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch"));
  EXPECT_THAT(groups_of(network.levels[0]), ElementsAre("leaf0", "leaf0", "leaf0", "leaf1", "leaf1", "leaf1"));
  EXPECT_EQ(num_distances(network), 2U);
  EXPECT_EQ(formula("fat-tree:3x2,spines=1").levels[0].names, network.levels[0].names);
}

TEST(fat_tree, of_three_levels_has_pods) {
  const Network network = sound("fat-tree:2x2x2,cores=1,spines=7");
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch", "pod"));
  EXPECT_THAT(network.levels[0].group_of, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(groups_of(network.levels[1]),
              ElementsAre("pod0", "pod0", "pod0", "pod0", "pod1", "pod1", "pod1", "pod1"));
  EXPECT_EQ(distance(network, 0, 1), 0U);
  EXPECT_EQ(distance(network, 1, 2), 1U);
  EXPECT_EQ(distance(network, 3, 4), 2U);
}

TEST(fat_tree, may_be_large) {
  const Network network = formula("fat-tree:32x64x64");
  EXPECT_THAT(network.hosts, SizeIs(1U << 17));
  EXPECT_THAT(network.hops, SizeIs(0));
  EXPECT_EQ(distance(network, 0, (1U << 17) - 1), 2U);
}

TEST(dragonfly, has_routers_and_groups) {
  const Network network = sound("dragonfly:2");
  EXPECT_THAT(network.hosts, SizeIs(72));  // 9 groups of 4 routers of 2 hosts
  EXPECT_THAT(kinds_of(network), ElementsAre("router", "group"));
  EXPECT_THAT(network.levels[0].names, SizeIs(36));
  EXPECT_THAT(network.levels[1].names, SizeIs(9));
  EXPECT_EQ(name_of_distance(network, distance(network, 0, 7)), "same group");
  EXPECT_EQ(name_of_distance(network, distance(network, 7, 8)), "different groups");
  EXPECT_THAT(sound("dragonfly:2,groups=3").hosts, SizeIs(24));
  EXPECT_THAT(sound("dragonfly:1").hosts, SizeIs(6));
  EXPECT_EQ(num_distances(sound("dragonfly:1,groups=1")), 2U);
}

TEST(torus, counts_the_shorter_way_round) {
  const Network network = sound("torus:4x3");
  EXPECT_THAT(network.hosts, SizeIs(12));
  EXPECT_THAT(kinds_of(network), ElementsAre("router"));
  for (std::uint32_t host = 0; host < 12; ++host) {
    for (std::uint32_t other = 0; other < 12; ++other) {
      const int across = std::abs(static_cast<int>(host % 4) - static_cast<int>(other % 4));
      const int along = std::abs(static_cast<int>(host / 4) - static_cast<int>(other / 4));
      EXPECT_EQ(distance(network, host, other),
                static_cast<std::size_t>(std::min(across, 4 - across) + std::min(along, 3 - along)));
    }
  }
  EXPECT_EQ(num_distances(network), 4U);
  EXPECT_EQ(num_distances(sound("torus:2x2x2x2x2x1x1x1")), 6U);
  EXPECT_EQ(num_distances(sound("torus:510")), 256U);
}

TEST(formula, names_the_part_that_is_wrong) {
  EXPECT_THAT(formula_refusal("fat-tree"), AllOf(HasSubstr("--topology cannot be 'fat-tree' (it has no extents)"),
                                                 HasSubstr("Write fat-tree:HOSTSxLEAVES[xPODS]")));
  EXPECT_THAT(formula_refusal("fat-tree:"), HasSubstr("'' is no number from 1 to 9999999"));
  EXPECT_THAT(formula_refusal("fat-tree:4"), HasSubstr("it has 1 extents"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4x4x4"), HasSubstr("it has 4 extents"));
  EXPECT_THAT(formula_refusal("fat-tree:4x"), HasSubstr("'' is no number"));
  EXPECT_THAT(formula_refusal("fat-tree:04x4"), HasSubstr("'04' is no number"));
  EXPECT_THAT(formula_refusal("fat-tree:-4x4"), HasSubstr("'-4' is no number"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4 "), HasSubstr("'4 ' is no number"));
  EXPECT_THAT(formula_refusal("fat-tree:10000000x1"), HasSubstr("'10000000' is no number"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4,"), HasSubstr("'' means nothing here"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4,groups=2"), HasSubstr("'groups=2' means nothing here"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4,spines"), HasSubstr("'' is no number"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4,spines=0"), HasSubstr("'0' is no number"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4x2,spines=1,spines=1"), HasSubstr("spines is given twice"));
  EXPECT_THAT(formula_refusal("fat-tree:4x4,cores=2"), HasSubstr("a tree of two levels has no cores"));
  EXPECT_THAT(formula_refusal("fat-tree:1x1"), HasSubstr("it has one host"));
  EXPECT_THAT(formula_refusal("torus:1"), HasSubstr("it has one host"));
  EXPECT_THAT(formula_refusal("torus:2x2,spines=2"), HasSubstr("'spines=2' means nothing here"));
  EXPECT_THAT(formula_refusal("torus:2x2x2x2x2x2x2x2x2"), HasSubstr("it has 9 extents"));
  EXPECT_THAT(formula_refusal("dragonfly:2x2"), HasSubstr("it has 2 extents"));
  EXPECT_THAT(formula_refusal("dragonfly:2,groups=10"), HasSubstr("8 global links of a group join at most 9 groups"));
  EXPECT_THAT(formula_refusal("mesh:4x4"), AllOf(HasSubstr("no kind of network"), HasSubstr("torus:XxYx...")));
}

TEST(formula, refuses_what_no_memory_holds) {
  EXPECT_THAT(formula_refusal("fat-tree:9999999x9999999x9999999"), HasSubstr("more than 2097152 hosts"));
  EXPECT_THAT(formula_refusal("dragonfly:9999999"), HasSubstr("more than 2097152 hosts"));
  EXPECT_THAT(formula_refusal("torus:9999999x9999999x9999999x9999999x9999999x9999999x9999999x9999999"),
              HasSubstr("more than 2097152 hosts"));
  EXPECT_THAT(formula_refusal("torus:8193"), HasSubstr("8193 routers"));
  EXPECT_THAT(formula_refusal("torus:512"), HasSubstr("up to 256 hops apart"));
}

TEST(is_formula, looks_at_the_kind_alone) {
  EXPECT_TRUE(is_formula("fat-tree"));
  EXPECT_TRUE(is_formula("torus:nonsense"));
  EXPECT_FALSE(is_formula("fat-tree.txt"));
  EXPECT_FALSE(is_formula(""));
}

}  // namespace
}  // namespace leadline::network
