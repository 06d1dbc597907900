// SPDX-License-Identifier: Apache-2.0
// Slurm's topology.conf: levels of its tree, and what is none.
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
using testing::SizeIs;

Network parsed(const std::string& text) {
  Network network = parse_slurm_topology("topology.conf", text);
  expect_sound(network);
  EXPECT_EQ(network.source, "topology.conf");
  return network;
}

std::string slurm_refusal(const std::string& text) {
  return test::refusal_of([&] { parse_slurm_topology("topology.conf", text); }, {text});
}

TEST(slurm_topology, has_a_level_for_each_height) {
  const Network network = parsed(
      "# a small machine\n"
      "SwitchName=s1 Nodes=n[0-1],m3   # the first\n"
      "\n"
      "SwitchName=s2 Nodes=n[2-3] LinkSpeed=100\n"
      "SwitchName=s3 Nodes=n4\n"
      "SwitchName=s4 Switches=s[1-2]\n"
      "SwitchName=s5 Switches=s3\n"
      "SwitchName=s6 Switches=s4,s5\n");
  EXPECT_THAT(network.hosts, ElementsAre("n0", "n1", "m3", "n2", "n3", "n4"));
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch", "level-2 switch", "level-3 switch"));
  EXPECT_THAT(groups_of(network.levels[0]), ElementsAre("s1", "s1", "s1", "s2", "s2", "s3"));
  EXPECT_THAT(groups_of(network.levels[1]), ElementsAre("s4", "s4", "s4", "s4", "s4", "s5"));
  EXPECT_THAT(groups_of(network.levels[2]), ElementsAre("s6", "s6", "s6", "s6", "s6", "s6"));
  EXPECT_EQ(num_distances(network), 3U);
  EXPECT_EQ(name_of_distance(network, distance(network, 0, 5)), "same level-3 switch");
}

TEST(slurm_topology, fills_up_where_a_leaf_hangs_higher) {
  const Network network = parsed(
      "SwitchName=top Switches=middle,c\n"
      "SwitchName=middle Switches=a,b\n"
      "SwitchName=c Nodes=n3\n"
      "SwitchName=a Nodes=n1\n"
      "SwitchName=b Nodes=n2\n");
  EXPECT_THAT(network.hosts, ElementsAre("n3", "n1", "n2"));
  EXPECT_THAT(groups_of(network.levels[1]), ElementsAre("c", "middle", "middle"));
  EXPECT_THAT(groups_of(network.levels[2]), ElementsAre("top", "top", "top"));
}

TEST(slurm_topology, may_be_several_trees_or_leaves_alone) {
  EXPECT_THAT(kinds_of(parsed("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n")), ElementsAre("leaf switch"));
  const Network islands = parsed(
      "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Nodes=n3\nSwitchName=d Nodes=n4\n"
      "SwitchName=x Switches=a,b\nSwitchName=y Switches=c,d\n");
  EXPECT_THAT(groups_of(islands.levels[1]), ElementsAre("x", "x", "y", "y"));
  EXPECT_EQ(num_distances(islands), 3U);
}

TEST(slurm_topology, is_also_what_scontrol_shows) {
  const Network network = parsed(
      "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-1]\n"
      "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[2-3]\n"
      "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-3] Switches=s0,s1\n");
  EXPECT_THAT(network.hosts, SizeIs(4));
  EXPECT_THAT(groups_of(network.levels[0]), ElementsAre("s0", "s0", "s1", "s1"));
  EXPECT_THAT(network.levels[1].names, ElementsAre("s2"));
}

TEST(slurm_topology, is_read_as_slurm_reads_it) {
  EXPECT_THAT(parsed("switchname=a NODES=\"n[1-2]\"\r\n  SWITCHNAME=b\tnodes=n3\r\n").hosts,
              ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(parsed("SwitchName=a \\\n  Nodes=n[1-2]\nSwitchName=b Nodes=n3").hosts, ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(parsed("SwitchName=a Nodes=n1,\\\nn2\nSwitchName=b Nodes=n3").hosts, ElementsAre("n1", "n2", "n3"));
}

TEST(slurm_topology, names_the_line_that_is_wrong) {
  EXPECT_THAT(
      slurm_refusal("SwitchName=a Nodes=n1\n\nSwitchName=b Nodes=n[2-1]\n"),
      AllOf(HasSubstr("cannot use 'topology.conf' as a network (line 3: "), HasSubstr("ends before it begins")));
  EXPECT_THAT(slurm_refusal("Nodes=n1"), HasSubstr("line 1: no SwitchName"));
  EXPECT_THAT(slurm_refusal("SwitchName=a"), HasSubstr("switch a has neither Nodes nor Switches"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1 Switches=b"), HasSubstr("both Nodes and Switches"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1 Speed=4"),
              AllOf(HasSubstr("'Speed=4' means nothing here"), HasSubstr("A line is: SwitchName=NAME")));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes n1"), HasSubstr("'Nodes' means nothing here"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1 nodes=n2"), HasSubstr("'nodes' is given twice"));
  EXPECT_THAT(slurm_refusal("SwitchName= Nodes=n1"), HasSubstr("'' is not the name of one switch"));
  EXPECT_THAT(slurm_refusal("SwitchName=s[1-2] Nodes=n1"), HasSubstr("'s[1-2]' is not the name of one switch"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nInclude other.conf"),
              AllOf(HasSubstr("line 2: Include is not followed"), HasSubstr("in its place")));
  EXPECT_THAT(slurm_refusal("BlockName=b Nodes=n1"), HasSubstr("blocks are no tree"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=b \\"), HasSubstr("ends before the line does"));
  EXPECT_THAT(slurm_refusal("# nothing\n"), HasSubstr("it has no switch"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n[0-99999999]"), HasSubstr("line 1: it names too many"));
}

TEST(slurm_topology, refuses_what_is_no_tree) {
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2"),
              HasSubstr("line 2: switch a is in line 1 already"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,b"),
              HasSubstr("line 2: there is no switch b"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=t Switches=a\nSwitchName=u Switches=a"),
              HasSubstr("line 3: switch a is below switch t already"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,a"),
              HasSubstr("is below switch t already"));
  EXPECT_THAT(slurm_refusal("SwitchName=t Switches=t"), HasSubstr("line 1: switch t is below itself"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,u\nSwitchName=u Switches=v\n"
                            "SwitchName=v Switches=u"),
              HasSubstr("below"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=u Switches=v\nSwitchName=v Switches=u"),
              AllOf(HasSubstr("line 2: switch u is below itself"), HasSubstr("Switches form a tree")));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=t Switches=a"),
              HasSubstr("line 2: no switch has switch b below it"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n1,n2\nSwitchName=b Nodes=n2"),
              HasSubstr("line 2: host n2 is on switch a (line 1) already"));
  EXPECT_THAT(slurm_refusal("SwitchName=a Nodes=n[1-3],n2"), HasSubstr("line 1: host n2 is named twice"));
  std::string chain = "SwitchName=s0 Nodes=n1\n";
  for (int height = 1; height < 2000; ++height) {
    chain += "SwitchName=s" + std::to_string(height) + " Switches=s" + std::to_string(height - 1) + "\n";
  }
  EXPECT_THAT(slurm_refusal(chain), HasSubstr("more than 16 switches on top of each other"));
}

}  // namespace
}  // namespace leadline::network
