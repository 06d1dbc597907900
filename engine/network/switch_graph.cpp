// SPDX-License-Identifier: Apache-2.0
// Counts hops between leaf switches by breadth-first search, and looks for a tree in them.
#include "network/switch_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "network/lines.hpp"
#include "network/network.hpp"

namespace leadline::network {
namespace {

/// The switches with hosts, and a host of each.
struct Leaves {
  Level level;
  std::vector<std::uint32_t> switches, first_host;  ///< by leaf
};

Leaves leaves_of(const SwitchGraph& graph) {
  Leaves leaves{{"leaf switch", {}, {}}, {}, {}};
  std::vector<std::uint32_t> leaf_of(graph.switches.size(), nobody);
  for (std::uint32_t host = 0; host < graph.hosts.size(); ++host) {
    std::uint32_t& leaf = leaf_of[graph.switch_of[host]];
    if (leaf == nobody) {
      leaf = static_cast<std::uint32_t>(leaves.switches.size());
      leaves.switches.push_back(graph.switch_of[host]);
      leaves.first_host.push_back(host);
      leaves.level.names.push_back(graph.switches[graph.switch_of[host]]);
    }
    leaves.level.group_of.push_back(leaf);
  }
  return leaves;
}

/// Hops from one switch to all; `nobody` = no way.
std::vector<std::uint32_t> hops_from(const SwitchGraph& graph, std::uint32_t start) {
  std::vector<std::uint32_t> hops(graph.switches.size(), nobody), reached{start};
  hops[start] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const std::uint32_t neighbour : graph.neighbours[reached[next]]) {
      if (hops[neighbour] != nobody) continue;
      hops[neighbour] = hops[reached[next]] + 1;
      reached.push_back(neighbour);
    }
  }
  return hops;
}

std::vector<std::uint8_t> hops_between_leaves(const std::string& file, const SwitchGraph& graph, const Leaves& leaves) {
  std::vector<std::uint8_t> hops;
  hops.reserve(leaves.switches.size() * leaves.switches.size());
  for (std::size_t leaf = 0; leaf < leaves.switches.size(); ++leaf) {
    const std::vector<std::uint32_t> from_leaf = hops_from(graph, leaves.switches[leaf]);
    for (std::size_t other = 0; other < leaves.switches.size(); ++other) {
      const std::uint32_t count = from_leaf[leaves.switches[other]];
      const std::string& near = graph.hosts[leaves.first_host[leaf]];
      const std::string& far = graph.hosts[leaves.first_host[other]];
      if (count == nobody) {
        refuse_file(file, fmt::format("no cables lead from {} to {}", near, far), "All hosts must reach each other");
      }
      if (count > most_hops) {
        refuse_file(file,
                    fmt::format("{} and {} are {} hops apart, at most {} are supported", near, far, count, most_hops));
      }
      hops.push_back(static_cast<std::uint8_t>(count));
    }
  }
  return hops;
}

/// By leaf: the first one that is at most `most` hops away. Nothing where two that are near a third are not near each
/// other.
std::optional<std::vector<std::uint32_t>> sets_within(std::size_t most, const std::vector<std::uint8_t>& hops,
                                                      std::size_t num_leaves) {
  std::vector<std::uint32_t> first(num_leaves);
  const auto row = [&](std::size_t leaf) { return hops.begin() + static_cast<std::ptrdiff_t>(leaf * num_leaves); };
  for (std::size_t leaf = 0; leaf < num_leaves; ++leaf) {
    first[leaf] = static_cast<std::uint32_t>(
        std::find_if(row(leaf), row(leaf + 1), [&](std::uint8_t count) { return count <= most; }) - row(leaf));
  }
  for (std::size_t leaf = 0; leaf < num_leaves; ++leaf) {
    for (std::size_t other = 0; other < num_leaves; ++other) {
      if ((row(leaf)[static_cast<std::ptrdiff_t>(other)] <= most) != (first[leaf] == first[other])) return std::nullopt;
    }
  }
  return first;
}

/// The name of a set is its first leaf and the number of the others: "leaf1+15".
Level level_of_sets(const Leaves& leaves, const std::vector<std::uint32_t>& first, std::string kind) {
  Level level{std::move(kind), {}, {}};
  std::vector<std::uint32_t> size(first.size()), group(first.size(), nobody);
  for (const std::uint32_t leaf : first) ++size[leaf];
  for (const std::uint32_t leaf : first) {
    if (group[leaf] != nobody) continue;
    group[leaf] = static_cast<std::uint32_t>(level.names.size());
    const std::string others = size[leaf] > 1 ? fmt::format("+{}", size[leaf] - 1) : "";
    level.names.push_back(leaves.level.names[leaf] + others);
  }
  for (const std::uint32_t leaf : leaves.level.group_of) level.group_of.push_back(group[first[leaf]]);
  return level;
}

/// Levels above the leaves; nothing where the hops are not those of a tree.
std::optional<std::vector<Level>> upper_levels(const Leaves& leaves, const std::vector<std::uint8_t>& hops) {
  std::array<bool, most_hops + 1> occurs{};
  for (const std::uint8_t count : hops) occurs[count] = true;
  const std::size_t farthest = *std::ranges::max_element(hops);
  std::vector<Level> levels;
  // All leaves are within the greatest distance: a level without information.
  for (std::size_t most = 1; most < farthest; ++most) {
    if (!occurs[most]) continue;
    const auto first = sets_within(most, hops, leaves.switches.size());
    if (!first) return std::nullopt;
    levels.push_back(
        level_of_sets(leaves, *first, levels.empty() ? "pod" : fmt::format("level-{} group", levels.size() + 2)));
  }
  return levels;
}

/// A set of leaves may have the name of one of them: "leaf+1" is also a name that a switch may have.
void expect_unique_names(const std::string& file, const Level& level) {
  std::vector<std::string> names = level.names;
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end())
    refuse_file(file, fmt::format("two of its {}s would be called {}", level.kind, *twice),
                "Call a switch differently");
}

}  // namespace

Network network_of_graph(const std::string& file, const SwitchGraph& graph) {
  if (graph.hosts.empty()) refuse_file(file, "it has no hosts");
  Leaves leaves = leaves_of(graph);
  if (leaves.switches.size() > most_hop_groups) {
    refuse_file(file, fmt::format("it has {} switches with hosts, at most {} are supported", leaves.switches.size(),
                                  most_hop_groups));
  }
  std::vector<std::uint8_t> hops = hops_between_leaves(file, graph, leaves);
  std::optional<std::vector<Level>> above = upper_levels(leaves, hops);
  Network network{file, graph.hosts, {std::move(leaves.level)}, {}};
  if (!above) {
    network.hops = std::move(hops);
    return network;
  }
  for (Level& level : *above) {
    expect_unique_names(file, level);
    network.levels.push_back(std::move(level));
  }
  return network;
}

}  // namespace leadline::network
