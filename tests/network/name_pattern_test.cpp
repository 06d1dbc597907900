// SPDX-License-Identifier: Apache-2.0
// Networks out of the names of hosts.
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

Network named(const std::string& pattern, const std::vector<std::string>& hosts) {
  Network network = by_pattern(pattern, hosts);
  expect_sound(network);
  EXPECT_EQ(network.source, "pattern:" + pattern);
  EXPECT_EQ(network.hosts, hosts);
  return network;
}

std::string pattern_refusal(const std::string& pattern, const std::vector<std::string>& hosts = {"r1n1"}) {
  return test::refusal_of([&] { by_pattern(pattern, hosts); }, {pattern});
}

TEST(by_pattern, has_a_level_for_each_group_the_outermost_first) {
  const Network network = named(R"(r(\d+)c(\d+)n\d+)", {"r1c1n1", "r1c1n2", "r1c2n1", "r2c1n1"});
  EXPECT_THAT(kinds_of(network), ElementsAre("name group", "level-2 name group"));
  EXPECT_THAT(groups_of(network.levels[0]), ElementsAre("1-1", "1-1", "1-2", "2-1"));
  EXPECT_THAT(groups_of(network.levels[1]), ElementsAre("1", "1", "1", "2"));
  EXPECT_EQ(name_of_distance(network, 0), "same name group");
  EXPECT_EQ(name_of_distance(network, 2), "different level-2 name groups");
}

TEST(by_pattern, calls_levels_as_groups_are_called) {
  const Network network = named(R"((?<rack>r\d+)(?:c\d)?[(?<x>n]+\d+)", {"r1(n1", "r21c1n1"});
  EXPECT_THAT(kinds_of(network), ElementsAre("rack"));
}

TEST(by_pattern, matches_the_whole_name_or_all_up_to_the_first_dot) {
  EXPECT_THAT(named(R"(r(\d)n\d)", {"r1n1.hpc.org", "r2n1"}).levels[0].names, ElementsAre("1", "2"));
  EXPECT_THAT(named(R"(n\d\.(.*))", {"n1.left", "n1.right"}).levels[0].names, ElementsAre("left", "right"));
  EXPECT_THAT(pattern_refusal(R"(r(\d))"), HasSubstr("1 of the run's 1 hosts do not match: 'r1n1'"));
}

TEST(by_pattern, keeps_groups_within_groups_whatever_they_are_called) {
  const Network network = named("(.*)_(.*)_.*", {"a-b_c_1", "a_b-c_1", "a_b-c_2"});
  EXPECT_THAT(groups_of(network.levels[0]), ElementsAre("a-b/c", "a/b-c", "a/b-c"));
}

TEST(by_pattern, says_what_is_wrong) {
  EXPECT_THAT(pattern_refusal("r("), AllOf(HasSubstr("--topology cannot be 'pattern:r(' (it is no regular expression)"),
                                           HasSubstr("Write for example pattern:")));
  EXPECT_THAT(pattern_refusal(""), HasSubstr("it has no group"));
  EXPECT_THAT(pattern_refusal(".*"), HasSubstr("it has no group"));
  EXPECT_THAT(pattern_refusal(R"((?:r\d).*\(1\)[(]*)"), HasSubstr("it has no group"));
  EXPECT_THAT(pattern_refusal("(?<>r).*"), HasSubstr("'' is no name of a group"));
  EXPECT_THAT(pattern_refusal("(?<=r).*"), HasSubstr("no name of a group"));
  EXPECT_THAT(pattern_refusal("(?<rack"), HasSubstr("no name of a group"));
  EXPECT_THAT(pattern_refusal("r1(x?)n1"), HasSubstr("group 1 is empty in the name 'r1n1'"));
  EXPECT_THAT(pattern_refusal("(r2)?r1n1"), HasSubstr("group 1 is empty"));
  EXPECT_THAT(pattern_refusal("(a)", {"a", "b", "c", "d", "e"}),
              HasSubstr("4 of the run's 5 hosts do not match: 'b', 'c', 'd' and 1 more"));
  EXPECT_THAT(pattern_refusal(std::string(1001, 'a')), HasSubstr("longer than 1000 bytes"));
  EXPECT_THAT(pattern_refusal("(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)"), HasSubstr("more than 16 groups"));
  EXPECT_THAT(pattern_refusal("(a{50000}{50000})"), HasSubstr("no regular expression"));
  EXPECT_THAT(pattern_refusal("(a)", {std::string(100000, 'a')}), HasSubstr("do not match"));
}

// A matcher that tries one way after the other would need 2^200 steps.
TEST(by_pattern, comes_to_an_end_with_repeated_repetitions) {
  EXPECT_THAT(pattern_refusal("((n*)*x)", {std::string(200, 'n')}), HasSubstr("do not match"));
  EXPECT_EQ(named("((?:n*)*)x", {std::string(200, 'n') + "x"}).levels[0].names[0], std::string(200, 'n'));
  EXPECT_THAT(pattern_refusal(R"((r\d)\1)"), HasSubstr("it refers back to a group"));
}

TEST(by_pattern, stays_alive_with_deep_expressions) {
  EXPECT_THAT(pattern_refusal(std::string(500, '(') + std::string(500, ')')), HasSubstr("more than 16 groups"));
  EXPECT_THAT(pattern_refusal(std::string(1000, '(')), HasSubstr("more than 16 groups"));
  std::string inert;
  for (int depth = 0; depth < 240; ++depth) inert += "(?:";
  EXPECT_THAT(pattern_refusal(inert + "(a*)" + std::string(240, ')')), HasSubstr("do not match"));
}

}  // namespace
}  // namespace leadline::network
