// SPDX-License-Identifier: Apache-2.0
// Distances of hosts and their names.
#include "network/network.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace leadline::network {
namespace {

std::string plural_of(const std::string& kind) {
  const bool hisses = kind.ends_with("ch") || kind.ends_with("sh") || kind.ends_with('s') || kind.ends_with('x');
  return kind + (hisses ? "es" : "s");
}

std::size_t hops_between(const Network& network, std::size_t group, std::size_t other) {
  return network.hops[group * network.levels.front().names.size() + other];
}

}  // namespace

std::size_t distance(const Network& network, std::uint32_t host, std::uint32_t other) {
  if (!network.hops.empty()) {
    const auto& group_of = network.levels.front().group_of;
    return hops_between(network, group_of[host], group_of[other]);
  }
  const auto shared = std::ranges::find_if(
      network.levels, [&](const Level& level) { return level.group_of[host] == level.group_of[other]; });
  return static_cast<std::size_t>(shared - network.levels.begin());
}

std::size_t num_distances(const Network& network) {
  if (!network.hops.empty()) return std::size_t{1} + *std::ranges::max_element(network.hops);
  // Nobody is farther away than a level that is one group.
  const auto whole = std::ranges::find_if(network.levels, [](const Level& level) { return level.names.size() <= 1; });
  return static_cast<std::size_t>(whole - network.levels.begin()) + 1;
}

std::string name_of_distance(const Network& network, std::size_t distance) {
  if (network.levels.empty()) return "between hosts";
  if (distance == 0) return "same " + network.levels.front().kind;
  if (!network.hops.empty()) return fmt::format("{} hop{}", distance, distance == 1 ? "" : "s");
  if (distance < network.levels.size()) return "same " + network.levels[distance].kind;
  return "different " + plural_of(network.levels.back().kind);
}

}  // namespace leadline::network
