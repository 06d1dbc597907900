// SPDX-License-Identifier: Apache-2.0
// The physical network: switches as nested groups, and how far apart two hosts are. Plain data, independent of its
// source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::network {

/// A list of all names has to fit into the memory.
inline constexpr std::size_t most_hosts = std::size_t{1} << 24;

/// Groups that have hops between them, which take the square of it in bytes.
inline constexpr std::size_t most_hop_groups = 8192;
inline constexpr std::size_t most_hops = 255;  // a byte each

/// Where a number of a host, switch or group is not known, or there is none.
inline constexpr std::uint32_t nobody = UINT32_MAX;

/// Switches (or groups, or pods) of one kind, and below which of them each host is.
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

/// "leaf switches" for "leaf switch".
std::string plural_of(const std::string& kind);

/// The network of exactly these hosts, in this order and by these names; groups without any are gone, and those that
/// are left keep their order. A host is found by its name, else by the name up to the first dot where that is unique
/// among `names` and in the network. Hosts without names (a formula's) are taken in order. Throws
/// Error(bad_command_line) that names some of those that the network lacks.
Network for_hosts(const Network& network, const std::vector<std::string>& names);

/// Source, levels and hops. Names of hosts and groups are left out: the receiver knows how many there are.
std::string packed(const Network& network);

/// What packed() made.
Network unpacked(std::string_view text);

}  // namespace leadline::network
