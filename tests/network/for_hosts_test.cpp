// SPDX-License-Identifier: Apache-2.0
// The part of a network that belongs to the hosts of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check.hpp"
#include "network/network.hpp"
#include "network/parse_network.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Network three_leaves(const std::vector<std::string>& hosts) {
  return {"my.conf",
          hosts,
          {{"leaf switch", {"l0", "l1", "l2"}, {0, 0, 1, 1, 2, 2}}, {"pod", {"p0", "p1"}, {0, 0, 0, 0, 1, 1}}},
          {}};
}

Network sound_part(const Network& network, const std::vector<std::string>& names) {
  Network own = for_hosts(network, names);
  expect_sound(own);
  EXPECT_EQ(own.hosts, names);
  EXPECT_EQ(own.source, network.source);
  EXPECT_EQ(kinds_of(own), kinds_of(network));
  return own;
}

std::string hosts_refusal(const Network& network, const std::vector<std::string>& names) {
  return test::refusal_of([&] { for_hosts(network, names); }, names);
}

TEST(for_hosts, takes_these_hosts_in_this_order) {
  const Network network = three_leaves({"a", "b", "c", "d", "e", "f"});
  const Network own = sound_part(network, {"f", "a", "e"});
  EXPECT_THAT(own.levels[0].names, ElementsAre("l0", "l2"));
  EXPECT_THAT(groups_of(own.levels[0]), ElementsAre("l2", "l0", "l2"));
  EXPECT_THAT(groups_of(own.levels[1]), ElementsAre("p1", "p0", "p1"));
  EXPECT_EQ(num_distances(sound_part(network, {"d", "a"})), 2U);
  EXPECT_THAT(for_hosts(network, {}).levels[0].names, IsEmpty());
}

TEST(for_hosts, keeps_all_distances) {
  Network network = formula("torus:3x4");
  for (std::size_t host = 0; host < network.hosts.size(); ++host) network.hosts[host] = "n" + std::to_string(host);
  const Network own = sound_part(network, {"n11", "n0", "n5"});
  EXPECT_THAT(own.hops, SizeIs(9));
  EXPECT_EQ(distance(own, 0, 1), distance(network, 11, 0));
  EXPECT_EQ(distance(own, 0, 2), distance(network, 11, 5));
  EXPECT_EQ(distance(own, 2, 1), distance(network, 5, 0));
}

TEST(for_hosts, takes_hosts_without_names_in_order) {
  const Network network = formula("fat-tree:2x3");
  const Network own = sound_part(network, {"x", "y", "z"});
  EXPECT_THAT(groups_of(own.levels[0]), ElementsAre("leaf0", "leaf0", "leaf1"));
  EXPECT_THAT(hosts_refusal(network, {"1", "2", "3", "4", "5", "6", "7"}),
              AllOf(HasSubstr("--topology cannot be 'fat-tree:2x3' (it has 6 hosts, the run 7)"),
                    HasSubstr("Name a larger network")));
}

TEST(for_hosts, finds_hosts_by_the_name_up_to_the_first_dot) {
  const Network brief = three_leaves({"a", "b", "c", "d", "e", "f"});
  EXPECT_THAT(groups_of(sound_part(brief, {"c.hpc.org", "e"}).levels[0]), ElementsAre("l1", "l2"));
  const Network full = three_leaves({"a.x", "b.x", "c.x", "d.x", "e.x", "f.x"});
  EXPECT_THAT(groups_of(sound_part(full, {"c", "e.x", "f.y"}).levels[0]), ElementsAre("l1", "l2", "l2"));
}

TEST(for_hosts, does_not_guess_which_of_several_is_meant) {
  const Network network = three_leaves({"a.x", "a.y", "c", "d", "10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(sound_part(network, {"a.x", "a.y", "10.0.0.2"}).levels[0].names, ElementsAre("l0", "l2"));
  EXPECT_THAT(hosts_refusal(network, {"a", "c"}), HasSubstr("1 of the run's 2 hosts are not in it: a"));
  EXPECT_THAT(hosts_refusal(network, {"c.x", "c.y"}), HasSubstr("2 of the run's 2 hosts are not in it: c.x, c.y"));
  EXPECT_THAT(hosts_refusal(network, {"10.0.0.3"}), HasSubstr("not in it: 10.0.0.3"));
  EXPECT_THAT(hosts_refusal(three_leaves({"10.x", "b", "c", "d", "e", "f"}), {"10.0.0.3"}), HasSubstr("not in it"));
  EXPECT_THAT(hosts_refusal(network, {"c", "c"}), HasSubstr("the run's c and c would both be its c"));
}

TEST(for_hosts, names_the_first_of_those_that_are_missing) {
  const Network network = three_leaves({"a", "b", "c", "d", "e", "f"});
  EXPECT_THAT(hosts_refusal(network, {"a", "n1", "n2", "b", "n3", "n4", "n5"}),
              AllOf(HasSubstr("--topology cannot be 'my.conf' (5 of the run's 7 hosts are not in it: n1, n2, n3 and 2 "
                              "more)"),
                    HasSubstr("by the names that it has for them")));
}

}  // namespace
}  // namespace leadline::network
