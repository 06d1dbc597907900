// SPDX-License-Identifier: Apache-2.0
// Reads a list of cables, and distinguishes hosts from switches.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "network/lines.hpp"
#include "network/network.hpp"
#include "network/parse_network.hpp"
#include "network/switch_graph.hpp"

namespace leadline::network {
namespace {

constexpr const char* cable_example = "A line is: NODE NODE [CAPACITY]";

struct Cable {
  std::uint32_t one = 0, other = 0;
  std::size_t line = 0;
};

struct NamedHost {
  std::string_view name;
  std::size_t line = 0;
};

/// Nodes are numbered in the order in which the cables name them.
struct Cables {
  const std::string& file;
  std::vector<std::string_view> names{};
  std::vector<Cable> cables{};
  std::vector<NamedHost> named_hosts{};
  std::unordered_map<std::string_view, std::uint32_t> node_of{};
  std::unordered_map<std::string_view, std::size_t> host_line{};
  std::unordered_map<std::uint64_t, std::size_t> line_of{};  ///< by both ends
};

bool is_capacity(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double capacity = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), capacity);
  return error == std::errc{} && stop == word.data() + word.size() && capacity > 1e-100 && capacity < 1e100;
}

std::uint32_t node_named(Cables& all, std::string_view name) {
  const auto [node, is_new] = all.node_of.try_emplace(name, static_cast<std::uint32_t>(all.names.size()));
  if (is_new) all.names.push_back(name);
  return node->second;
}

void add_cable(Cables& all, const Line& line, const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words.size() > 3) {
    line.refuse(fmt::format("{} word{}", words.size(), words.size() == 1 ? "" : "s"), cable_example);
  }
  if (words[0] == words[1]) line.refuse(fmt::format("the cable leads from {} to itself", shown(words[0])));
  if (words.size() == 3 && !is_capacity(words[2])) {
    line.refuse(fmt::format("{} is no capacity", shown(words[2])), "It is a number above 0, in any unit");
  }
  const Cable cable{node_named(all, words[0]), node_named(all, words[1]), line.number};
  const std::uint64_t ends = std::uint64_t{std::min(cable.one, cable.other)} << 32 | std::max(cable.one, cable.other);
  const auto [first, is_new] = all.line_of.try_emplace(ends, line.number);
  if (!is_new) {
    line.refuse(
        fmt::format("{} and {} have a cable in line {} already", shown(words[0]), shown(words[1]), first->second),
        "One line is both ways; write several cables as one of more capacity");
  }
  all.cables.push_back(cable);
}

Cables read_cables(const std::string& file, std::string_view text) {
  Cables all{file};
  Lines lines(text);
  while (const auto next = lines.next()) {
    const Line line{file, lines.number()};
    const auto words = words_of(next->substr(0, next->find('#')));
    if (words.empty()) continue;
    if (words.front() != "hosts:") {
      add_cable(all, line, words);
      continue;
    }
    for (std::size_t word = 1; word < words.size(); ++word) {
      if (!all.host_line.try_emplace(words[word], line.number).second) {
        line.refuse(fmt::format("host {} is named twice", shown(words[word])));
      }
      all.named_hosts.push_back({words[word], line.number});
    }
  }
  if (all.cables.empty()) refuse_file(file, "it has no cable", cable_example);
  return all;
}

/// Those that are named, or else all with one cable.
std::vector<std::uint32_t> hosts_of(const Cables& all) {
  std::vector<std::uint32_t> num_cables(all.names.size()), hosts;
  for (const Cable& cable : all.cables) {
    ++num_cables[cable.one];
    ++num_cables[cable.other];
  }
  for (const NamedHost& host : all.named_hosts) {
    const auto node = all.node_of.find(host.name);
    const std::uint32_t count = node == all.node_of.end() ? 0 : num_cables[node->second];
    if (count != 1) {
      Line{all.file, host.line}.refuse(fmt::format("host {} has {} cables", shown(host.name), count), "A host has one");
    }
    hosts.push_back(node->second);
  }
  for (std::uint32_t node = 0; all.named_hosts.empty() && node < num_cables.size(); ++node) {
    if (num_cables[node] == 1) hosts.push_back(node);
  }
  if (hosts.size() < 2 || hosts.size() > most_hosts) {
    refuse_file(all.file,
                fmt::format("it has {} hosts, which are {}", hosts.size(),
                            all.named_hosts.empty() ? "nodes with one cable" : "named"),
                "At least two are needed");
  }
  return hosts;
}

}  // namespace

Network parse_edge_topology(const std::string& file, std::string_view text) {
  const Cables all = read_cables(file, text);
  const std::vector<std::uint32_t> hosts = hosts_of(all);
  std::vector<std::uint32_t> host_number(all.names.size(), nobody), switch_number(all.names.size(), nobody);
  SwitchGraph graph;
  for (const std::uint32_t node : hosts) {
    host_number[node] = static_cast<std::uint32_t>(graph.hosts.size());
    graph.hosts.emplace_back(all.names[node]);
  }
  for (std::uint32_t node = 0; node < all.names.size(); ++node) {
    if (host_number[node] != nobody) continue;
    switch_number[node] = static_cast<std::uint32_t>(graph.switches.size());
    graph.switches.emplace_back(all.names[node]);
  }
  graph.switch_of.resize(hosts.size());
  graph.neighbours.resize(graph.switches.size());
  for (const Cable& cable : all.cables) {
    const bool is_reversed = host_number[cable.one] == nobody;
    const std::uint32_t host = is_reversed ? cable.other : cable.one, node = is_reversed ? cable.one : cable.other;
    if (host_number[host] == nobody) {
      graph.neighbours[switch_number[cable.one]].push_back(switch_number[cable.other]);
      graph.neighbours[switch_number[cable.other]].push_back(switch_number[cable.one]);
    } else if (host_number[node] != nobody) {
      Line{file, cable.line}.refuse(
          fmt::format("both ends, {} and {}, are hosts", shown(all.names[cable.one]), shown(all.names[cable.other])),
          "Hosts are at switches");
    } else {
      graph.switch_of[host_number[host]] = switch_number[node];
    }
  }
  return network_of_graph(file, graph);
}

}  // namespace leadline::network
