// SPDX-License-Identifier: Apache-2.0
// Finds hosts behind adapters, and names for switches.
#include "network/ib_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "network/ib_lines.hpp"
#include "network/limits.hpp"
#include "network/lines.hpp"
#include "network/refusal.hpp"
#include "network/switch_graph.hpp"

namespace leadline::network {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Texts in order, numbers in them by their value: mlx5_2 comes before mlx5_10.
bool is_before(std::string_view one, std::string_view other) {
  while (!one.empty() && !other.empty()) {
    if (!is_digit(one.front()) || !is_digit(other.front())) {
      if (one.front() != other.front()) return one.front() < other.front();
      one.remove_prefix(1);
      other.remove_prefix(1);
      continue;
    }
    const auto number = [](std::string_view& text) {
      text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
      const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
      text.remove_prefix(digits.size());
      return digits;
    };
    const std::string_view own = number(one), its = number(other);
    if (own.size() != its.size()) return own.size() < its.size();
    if (own != its) return own < its;
  }
  return one.size() < other.size();
}

/// A port of an adapter that leads to a switch.
struct IbPort {
  std::uint32_t node = nobody, port = 0, at_switch = nobody;
};

/// Whether a host is rather said to hang on this port.
bool comes_first(const IbFabric& fabric, const IbPort& port, const IbPort& other) {
  if (other.node == nobody) return true;
  if (port.node == other.node) return port.port < other.port;
  const IbNode &one = fabric.nodes[port.node], &two = fabric.nodes[other.node];
  if (one.description != two.description) return is_before(one.description, two.description);
  return one.id < two.id;
}

/// The host that an adapter is in; empty where its description does not tell.
std::string_view host_of(const IbNode& adapter) {
  // What adapters are called that nobody has given a name, among them those that switches have for reductions.
  const auto words = words_of(adapter.description);
  const bool is_product = adapter.description.find("Mellanox Technologies") != std::string_view::npos;
  return words.empty() || is_product ? std::string_view{} : words.front();
}

/// By node: its number among the switches, `nobody` for all others. Fills in names and cables.
std::vector<std::uint32_t> add_switches(const IbFabric& fabric, SwitchGraph& graph) {
  std::vector<std::uint32_t> number(fabric.nodes.size(), nobody);
  std::unordered_map<std::string_view, int> num_named;
  for (const IbNode& node : fabric.nodes) ++num_named[node.description];
  for (std::uint32_t index = 0; index < fabric.nodes.size(); ++index) {
    const IbNode& node = fabric.nodes[index];
    if (node.kind != IbKind::fabric_switch) continue;
    number[index] = static_cast<std::uint32_t>(graph.switches.size());
    std::string name(node.description.empty() ? node.id : node.description);
    if (!node.description.empty() && num_named[node.description] > 1) name += fmt::format(" {}", node.id);
    graph.switches.push_back(std::move(name));
  }
  graph.neighbours.resize(graph.switches.size());
  for (const IbCable& cable : fabric.cables) {
    const std::uint32_t one = number[cable.node], other = number[cable.other_node];
    if (one == nobody || other == nobody) continue;
    graph.neighbours[one].push_back(other);
    graph.neighbours[other].push_back(one);
  }
  for (auto& neighbours : graph.neighbours) {
    std::ranges::sort(neighbours);
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  }
  return number;
}

/// The end at an adapter of a cable from it to a switch.
std::optional<IbPort> adapter_port(const IbFabric& fabric, const IbCable& cable) {
  const IbKind one = fabric.nodes[cable.node].kind, other = fabric.nodes[cable.other_node].kind;
  if (one == IbKind::adapter && other == IbKind::fabric_switch) {
    return IbPort{cable.node, cable.port, cable.other_node};
  }
  if (one == IbKind::fabric_switch && other == IbKind::adapter) {
    return IbPort{cable.other_node, cable.other_port, cable.node};
  }
  return std::nullopt;
}

void add_ib_hosts(const std::string& file, const IbFabric& fabric, const std::vector<std::uint32_t>& switch_number,
                  SwitchGraph& graph) {
  std::unordered_map<std::uint64_t, std::uint32_t> switch_at;
  std::unordered_map<std::string_view, std::uint32_t> number_of;
  std::vector<IbPort> first;  // by host
  for (const IbCable& cable : fabric.cables) {
    const auto port = adapter_port(fabric, cable);
    if (!port) continue;
    const IbNode& adapter = fabric.nodes[port->node];
    const std::uint64_t key = std::uint64_t{port->node} << 32 | port->port;
    if (const auto [known, is_new] = switch_at.try_emplace(key, port->at_switch);
        !is_new && known->second != port->at_switch) {
      Line{file, cable.line}.refuse(fmt::format("port {} of {} is on two switches", port->port, shown(adapter.id)),
                                    "Give it the output of one run");
    }
    const std::string_view name = host_of(adapter);
    if (name.empty()) continue;
    const auto [host, is_new] = number_of.try_emplace(name, static_cast<std::uint32_t>(first.size()));
    if (is_new) {
      first.emplace_back();
      graph.hosts.emplace_back(name);
    }
    if (comes_first(fabric, *port, first[host->second])) first[host->second] = *port;
  }
  for (const IbPort& port : first) graph.switch_of.push_back(switch_number[port.at_switch]);
}

}  // namespace

Network parse_ib_topology(const std::string& file, std::string_view text) {
  const IbFabric fabric = read_ib_fabric(file, text);
  SwitchGraph graph;
  const std::vector<std::uint32_t> switch_number = add_switches(fabric, graph);
  add_ib_hosts(file, fabric, switch_number, graph);
  if (graph.hosts.empty()) {
    refuse_file(file, "no adapter at a switch tells its host",
                "Descriptions begin with the host's name where rdma-ndd runs, as in \"node018 HCA-1\"");
  }
  return network_of_graph(file, graph);
}

}  // namespace leadline::network
