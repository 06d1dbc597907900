// SPDX-License-Identifier: Apache-2.0
// Writes the cables of a fabric, those between the same two nodes together.
#include "network/cables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "network/ib_topology.hpp"
#include "network/parse_network.hpp"

namespace leadline::network {
namespace {

/// One word, as a list of cables has it.
std::string as_word(std::string name) {
  std::ranges::replace_if(
      name, [](char letter) { return letter == ' ' || letter == '\t' || letter == '#'; }, '_');
  return name;
}

std::string ib_cables(const std::string& file, std::string_view text) {
  const IbFabric fabric = read_ib_fabric(file, text);
  const std::vector<IbHost> hosts = hosts_of(file, fabric);
  const std::vector<std::string> names = switch_names(fabric);
  const bool are_told = std::ranges::all_of(fabric.cables, [](const IbCable& one) { return one.gigabits_s > 0; });
  const auto capacity = [&](const IbCable& cable) { return are_told ? cable.gigabits_s : 1; };
  const auto switch_word = [&](std::uint32_t node) { return "switch:" + as_word(names[node]); };
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> port_capacity;  // by switch and port
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> between;        // by the two switches
  for (const IbCable& cable : fabric.cables) {
    if (fabric.nodes[cable.node].kind != IbKind::fabric_switch) continue;
    const bool is_new = port_capacity.emplace(std::pair{cable.node, cable.port}, capacity(cable)).second;
    // Listed at both ends: the end at the lower number counts.
    const bool is_between = fabric.nodes[cable.other_node].kind == IbKind::fabric_switch;
    if (is_between && is_new && cable.node < cable.other_node) {
      between[{cable.node, cable.other_node}] += capacity(cable);
    }
  }
  std::vector<std::string> host_words;
  std::string cables;
  for (const IbHost& host : hosts) {
    host_words.push_back(as_word(std::string(host.name)));
    const auto known = port_capacity.find({host.at_switch, host.switch_port});
    cables += fmt::format("{} {} {}\n", host_words.back(), switch_word(host.at_switch),
                          known == port_capacity.end() ? 1 : known->second);
  }
  for (const auto& [ends, sum] : between) {
    cables += fmt::format("{} {} {}\n", switch_word(ends.first), switch_word(ends.second), sum);
  }
  return fmt::format("hosts: {}\n{}", fmt::join(host_words, " "), cables);
}

}  // namespace

std::string cables_of_text(const std::string& file, std::string_view text) {
  const std::string_view whole = text;
  switch (kind_of_topology(file, text)) {
    case TopologyFile::slurm:
      return slurm_cables(file, text);
    case TopologyFile::ib:
      return ib_cables(file, text);
    case TopologyFile::edges:
      break;
  }
  return std::string(whole);
}

std::string cables_of_file(const std::string& path) {
  return cables_of_text(path, read_text(path, "Name a file with a physical network"));
}

}  // namespace leadline::network
