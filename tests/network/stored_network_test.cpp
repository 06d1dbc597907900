// SPDX-License-Identifier: Apache-2.0
// The network of a run in its result: what comes back is what was written, and what cannot be is refused.
#include "network/stored_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/json.hpp"
#include "network/parse_network.hpp"

namespace leadline::network {
namespace {

std::vector<std::string> node_names(std::size_t num) {
  std::vector<std::string> names;
  for (std::size_t host = 0; host < num; ++host) names.push_back("node" + std::to_string(host));
  return names;
}

void expect_same(const Network& network, const Network& other) {
  EXPECT_EQ(network.source, other.source);
  EXPECT_EQ(network.hosts, other.hosts);
  EXPECT_EQ(network.hops, other.hops);
  ASSERT_EQ(network.levels.size(), other.levels.size());
  for (std::size_t level = 0; level < network.levels.size(); ++level) {
    EXPECT_EQ(network.levels[level].kind, other.levels[level].kind);
    EXPECT_EQ(network.levels[level].names, other.levels[level].names);
    EXPECT_EQ(network.levels[level].group_of, other.levels[level].group_of);
  }
}

TEST(stored_network, comes_back) {
  for (const char* const word :
       {"fat-tree:4x3", "fat-tree:2x3x2", "dragonfly:2", "torus:3x4", "pattern:node(\\d)\\d?"}) {
    const auto hosts = node_names(12);
    const Network network = parse_network(word, hosts);
    const std::string text = stored_text(network);
    EXPECT_EQ(text.find('\n'), text.npos);
    const StoredNetwork stored = stored_network(text, hosts);
    EXPECT_EQ(stored.why_left_out, "");
    expect_sound(stored.network);
    expect_same(stored.network, network);
  }
}

TEST(stored_network, is_short_where_hosts_stand_in_order) {
  const Network network = parse_network("fat-tree:32x64", node_names(2048));
  EXPECT_LT(stored_text(network).size(), 2048U);
  EXPECT_EQ(words_of_stored(stored_text(network)), "fat-tree:32x64 (64 leaf switches)");
}

TEST(stored_network, of_nothing_is_empty) {
  EXPECT_EQ(stored_text({}), "");
  EXPECT_EQ(stored_text(unpacked(packed(parse_network("fat-tree:4x3", node_names(12))))), "");
  EXPECT_EQ(stored_text(parse_network("none", node_names(12))), "");
}

TEST(stored_network, says_why_it_is_left_out) {
  std::vector<std::string> hosts = node_names(4);
  hosts[3] = hosts[0];
  Network network{"by hand", hosts, {{"leaf switch", {"l0", "l1"}, {0, 0, 1, 1}}}, {}};
  const StoredNetwork twice = stored_network(stored_text(network), hosts);
  EXPECT_THAT(twice.why_left_out, ::testing::HasSubstr("one name"));
  EXPECT_TRUE(twice.network.levels.empty());
  EXPECT_EQ(words_of_stored(stored_text(network)), "by hand (left out: several hosts have one name)");

  constexpr std::size_t num_groups = 2100;
  network.hosts = node_names(num_groups);
  network.levels[0].names = node_names(num_groups);
  network.levels[0].group_of.resize(num_groups);
  std::iota(network.levels[0].group_of.begin(), network.levels[0].group_of.end(), 0U);
  network.hops.assign(num_groups * num_groups, 1);
  const std::string text = stored_text(network);
  EXPECT_LT(text.size(), 200U);
  EXPECT_THAT(stored_network(text, network.hosts).why_left_out, ::testing::HasSubstr("8 MiB"));
}

TEST(stored_network, refuses_what_is_none) {
  const auto text_of = [](const std::string& levels, const std::string& hops = "[]") {
    return R"({"source": "x", "levels": [)" + levels + R"(], "hops": )" + hops + "}";
  };
  const auto level = [](const std::string& names, const std::string& hosts) {
    return R"({"kind": "leaf switch", "names": [)" + names + R"(], "hosts": [)" + hosts + "]}";
  };
  const auto hosts = node_names(4);
  const std::string good = level(R"("a", "b")", R"("0-1", "2,3")");
  EXPECT_EQ(stored_network(text_of(good), hosts).network.levels.front().group_of,
            (std::vector<std::uint32_t>{0, 0, 1, 1}));
  for (const std::string& bad : {
           std::string("{"),
           std::string("[]"),
           text_of(""),
           text_of(level(R"("a", "b")", R"("0-1", "2")")),               // a host in no group
           text_of(level(R"("a", "b")", R"("0-2", "2-3")")),             // one in two
           text_of(level(R"("a", "b")", R"("0-1", "2-4")")),             // one that does not exist
           text_of(level(R"("a", "b")", R"("1-0", "2-3")")),             // backwards
           text_of(level(R"("a", "b")", R"("0-1-1", "2-3")")),           // no range
           text_of(level(R"("a")", R"("0-1", "2-3")")),                  // without a name
           text_of(level(R"("a", "b")", R"("0-99999999999", "2")")),     // no number
           text_of(good + "," + level(R"("p", "q")", R"("0", "1-3")")),  // across two groups
           text_of(good, R"(["0 1"])"),
           text_of(good, R"(["0 1", "1"])"),
           text_of(good, R"(["0 256", "1 0"])"),
       }) {
    EXPECT_THROW(stored_network(bad, hosts), JsonError) << bad;
  }
}

TEST(stored_network, shows_nothing_that_a_terminal_obeys) {
  const StoredNetwork stored = stored_network(
      R"({"source": "\u001b[2J", "levels": [{"kind": "a\u0007", "names": ["\u001b"], "hosts": ["0"]}], "hops": []})",
      {"node0"});
  EXPECT_EQ(stored.network.source, "?[2J");
  EXPECT_EQ(stored.network.levels.front().kind, "a?");
  EXPECT_EQ(stored.network.levels.front().names.front(), "?");
}

}  // namespace
}  // namespace leadline::network
