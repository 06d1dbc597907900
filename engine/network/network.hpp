// SPDX-License-Identifier: Apache-2.0
// What hosts hang on: switches as nested groups, and how far apart two hosts are. Plain data; where it comes from does
// not matter to those who use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leadline::network {

/// Switches (or groups, or pods) of one kind, and below which of them each host hangs.
struct Level {
  std::string kind;                     ///< of one: "leaf switch", "pod", "group"
  std::vector<std::string> names;       ///< of each, unique within the level
  std::vector<std::uint32_t> group_of;  ///< by host: index into names
};

struct Network {
  std::string source;              ///< where it comes from: "topology.conf", "fat-tree:32x16"
  std::vector<std::string> hosts;  ///< names, unique; empty strings where a formula has none for them
  std::vector<Level> levels;       ///< innermost first; a group lies within one group of the next level. May be empty

  /// Switches on the shortest way between the groups of levels[0] minus one, row by row, where that says more than the
  /// levels do (a torus, a network that is no tree); else empty.
  std::vector<std::uint8_t> hops;
};

/// How far apart hosts are, in steps that the network knows: 0 below the same leaf switch. Where there are hops, they;
/// else the number of the first level in which both hosts are in one group, levels.size() where there is none.
std::size_t distance(const Network& network, std::uint32_t host, std::uint32_t other);

/// Greatest distance that the network can have, plus one. 1 where it has neither levels nor hops.
std::size_t num_distances(const Network& network);

/// "same leaf switch", "same pod", "different pods", "3 hops".
std::string name_of_distance(const Network& network, std::size_t distance);

}  // namespace leadline::network
