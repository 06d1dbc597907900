// SPDX-License-Identifier: Apache-2.0
// What every network has in common, whatever it was made of, and short forms of what is in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// Every host is in one group of each level, no group is empty, groups lie within groups, names are unique, and hops
/// are the same both ways.
inline void expect_sound(const Network& network) {
  EXPECT_FALSE(network.source.empty());
  const Level* inner = nullptr;
  for (const Level& level : network.levels) {
    EXPECT_FALSE(level.kind.empty());
    ASSERT_EQ(level.group_of.size(), network.hosts.size());
    const std::set<std::string> names(level.names.begin(), level.names.end());
    EXPECT_EQ(names.size(), level.names.size()) << level.kind;
    EXPECT_FALSE(names.contains(""));
    const std::set<std::uint32_t> groups(level.group_of.begin(), level.group_of.end());
    EXPECT_EQ(groups.size(), level.names.size()) << level.kind;
    EXPECT_TRUE(groups.empty() || *groups.rbegin() + 1 == level.names.size()) << level.kind;
    std::map<std::uint32_t, std::uint32_t> outer_of;
    for (std::size_t host = 0; inner != nullptr && host < network.hosts.size(); ++host) {
      const auto outer = outer_of.try_emplace(inner->group_of[host], level.group_of[host]).first;
      EXPECT_EQ(outer->second, level.group_of[host]) << "host " << host << " of " << level.kind;
    }
    inner = &level;
  }
  if (network.hops.empty()) return;
  ASSERT_FALSE(network.levels.empty());
  const std::size_t size = network.levels.front().names.size();
  ASSERT_EQ(network.hops.size(), size * size);
  for (std::size_t group = 0; group < size; ++group) {
    for (std::size_t other = 0; other < size; ++other) {
      EXPECT_EQ(network.hops[group * size + other] == 0, group == other) << group << ' ' << other;
      EXPECT_EQ(network.hops[group * size + other], network.hops[other * size + group]) << group << ' ' << other;
    }
  }
}

/// By host: the name of its group.
inline std::vector<std::string> groups_of(const Level& level) {
  std::vector<std::string> names;
  for (const std::uint32_t group : level.group_of) names.push_back(level.names.at(group));
  return names;
}

inline std::vector<std::string> kinds_of(const Network& network) {
  std::vector<std::string> kinds;
  for (const Level& level : network.levels) kinds.push_back(level.kind);
  return kinds;
}

}  // namespace leadline::network
