// SPDX-License-Identifier: Apache-2.0
// What may stand behind --topology.
#include "network/parse_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "check.hpp"
#include "support/folder.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string word_refusal(const std::string& word, const std::vector<std::string>& hosts = {"n1", "n2"}) {
  return test::refusal_of([&] { parse_network(word, hosts); }, {word});
}

TEST(parse_network, takes_formulas_patterns_and_files) {
  EXPECT_THAT(groups_of(parse_network("fat-tree:1x2", {"n1", "n2"}).levels[0]), ElementsAre("leaf0", "leaf1"));
  EXPECT_THAT(groups_of(parse_network("pattern:n(.)", {"n1", "n2"}).levels[0]), ElementsAre("1", "2"));
  const test::Folder folder;
  std::ofstream(folder / "my.conf") << "SwitchName=s1 Nodes=n[1-9]\nSwitchName=s2 Nodes=m[1-9]\n";
  const Network network = parse_network(folder / "my.conf", {"m2.org", "n7"});
  expect_sound(network);
  EXPECT_THAT(network.hosts, ElementsAre("m2.org", "n7"));
  EXPECT_THAT(groups_of(network.levels[0]), ElementsAre("s2", "s1"));
  EXPECT_THAT(word_refusal(folder / "my.conf", {"n1", "k"}), HasSubstr("1 of the run's 2 hosts are not in it: k"));
}

TEST(parse_network, lists_what_may_stand_there) {
  for (const char* word : {"", "no-such-file", "mesh:4x4"}) {
    EXPECT_THAT(word_refusal(word),
                AllOf(HasSubstr("--topology cannot be '" + std::string(word) +
                                "' (neither a kind of network nor a file). Write fat-tree:HOSTSxLEAVES"),
                      HasSubstr("pattern:REGEX, none, or the name of a file")));
  }
  EXPECT_THAT(word_refusal("torus"), HasSubstr("it has no extents"));
  EXPECT_THAT(word_refusal("fat-tree:1x1x1"), HasSubstr("it has one host"));
  EXPECT_THAT(word_refusal("pattern:("), HasSubstr("no regular expression"));
}

}  // namespace
}  // namespace leadline::network
