// SPDX-License-Identifier: Apache-2.0
// Reads the output of ibnetdiscover and builds the switches and cables of its fabric.
#include "network/ib_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "network/lines.hpp"
#include "network/network.hpp"
#include "network/switch_graph.hpp"

namespace leadline::network {
namespace {

constexpr const char* complete_output = "Is it the complete output of ibnetdiscover, without -l or -p?";

struct IbReader {
  const std::string& file;
  IbFabric fabric{};
  std::unordered_map<std::string_view, std::uint32_t> number_of{};
  std::optional<std::uint32_t> own{};  ///< whose ports come now
};

/// What stands between the first quote and the next one; nothing where there are no two.
std::optional<std::string_view> quoted(std::string_view text) {
  const std::size_t begin = text.find('"');
  const std::size_t end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + 1, end - begin - 1);
}

/// Between the first and the last quote behind the #: a description may have quotes of its own.
std::string_view description_in(std::string_view line) {
  line.remove_prefix(std::min(line.find('#'), line.size()));
  const std::size_t begin = line.find('"'), end = line.rfind('"');
  if (begin == end) return {};
  const std::string_view description = line.substr(begin + 1, end - begin - 1);
  const std::size_t first = std::min(description.find_first_not_of(' '), description.size());
  return description.substr(first, description.find_last_not_of(' ') + 1 - first);
}

/// The number in the brackets that the text begins with.
std::optional<std::uint32_t> bracketed(std::string_view text) {
  const std::size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + close;
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<IbKind> kind_of_stanza(std::string_view word) {
  if (word == "Switch") return IbKind::fabric_switch;
  if (word == "Ca") return IbKind::adapter;
  return word == "Rt" ? std::optional(IbKind::router) : std::nullopt;
}

IbKind kind_of_id(std::string_view id) {
  if (id.starts_with("S-")) return IbKind::fabric_switch;
  return id.starts_with("H-") ? IbKind::adapter : IbKind::router;
}

/// "Switch 36 ...", not only the word.
bool is_stanza(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && kind_of_stanza(words[0]) && words[2].starts_with('"') &&
         words[1].find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint32_t node_of_id(IbReader& reader, std::string_view id, std::size_t line) {
  IbFabric& fabric = reader.fabric;
  const auto [node, is_new] = reader.number_of.try_emplace(id, static_cast<std::uint32_t>(fabric.nodes.size()));
  if (is_new) fabric.nodes.push_back({id, {}, kind_of_id(id), line, false});
  return node->second;
}

void begin_stanza(IbReader& reader, const Line& line, std::string_view text, IbKind kind) {
  const auto id = quoted(text.substr(0, text.find('#')));
  if (!id || id->empty()) line.refuse("no name in quotes", complete_output);
  reader.own = node_of_id(reader, *id, line.number);
  IbNode& node = reader.fabric.nodes[*reader.own];
  if (node.has_lines) line.refuse(fmt::format("{} is listed twice", shown(*id)), "Give it the output of one run");
  node.has_lines = true;
  node.kind = kind;
  if (const auto description = description_in(text); !description.empty()) node.description = description;
}

/// "4xHDR" at the end of a line: lanes, and what each carries.
double gigabits_in(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, double>, 9> lanes{{{"SDR", 2},
                                                                      {"DDR", 4},
                                                                      {"QDR", 8},
                                                                      {"FDR10", 10},
                                                                      {"FDR", 13.64},
                                                                      {"EDR", 25},
                                                                      {"HDR", 50},
                                                                      {"NDR", 100},
                                                                      {"XDR", 200}}};
  const auto words = words_of(line);
  const std::string_view last = words.empty() ? std::string_view{} : words.back();
  const std::size_t sign = last.find('x');
  if (sign == std::string_view::npos) return 0;
  std::uint32_t width = 0;
  const auto [stop, error] = std::from_chars(last.data(), last.data() + sign, width);
  if (error != std::errc{} || stop != last.data() + sign) return 0;
  const auto speed = std::ranges::find(lanes, last.substr(sign + 1), &std::pair<std::string_view, double>::first);
  return speed == lanes.end() ? 0 : width * speed->second;
}

void add_port(IbReader& reader, const Line& line, std::string_view text) {
  if (!reader.own) line.refuse("a port without a node", complete_output);
  const auto port = bracketed(text);
  const auto other = quoted(text.substr(0, text.find('#')));
  if (!port || !other || other->empty()) line.refuse("it names no port and no node behind it", complete_output);
  const auto other_port = bracketed(text.substr(text.find(*other) + other->size() + 1));
  if (!other_port) line.refuse(fmt::format("no port of {}", shown(*other)), complete_output);
  const std::uint32_t node = node_of_id(reader, *other, line.number);
  reader.fabric.cables.push_back({*reader.own, *port, node, *other_port, line.number, gigabits_in(text)});
  // A switch lists what it is connected to; an adapter's own lines come later, or not at all.
  IbNode& seen = reader.fabric.nodes[node];
  if (seen.description.empty()) seen.description = description_in(text);
}

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
    const std::string_view one_number = number(one), other_number = number(other);
    if (one_number.size() != other_number.size()) return one_number.size() < other_number.size();
    if (one_number != other_number) return one_number < other_number;
  }
  return one.size() < other.size();
}

/// A port of an adapter that leads to a switch.
struct IbPort {
  std::uint32_t node = nobody, port = 0, at_switch = nobody, switch_port = 0;
};

/// Whether this port, rather than the other, says at which switch a host is.
bool comes_first(const IbFabric& fabric, const IbPort& port, const IbPort& other) {
  if (other.node == nobody) return true;
  if (port.node == other.node) return port.port < other.port;
  const IbNode &one = fabric.nodes[port.node], &two = fabric.nodes[other.node];
  if (one.description != two.description) return is_before(one.description, two.description);
  return one.id < two.id;
}

/// By node: its number among the switches, `nobody` for all others. Fills in names and cables.
std::vector<std::uint32_t> add_switches(const IbFabric& fabric, SwitchGraph& graph) {
  std::vector<std::uint32_t> number(fabric.nodes.size(), nobody);
  std::vector<std::string> names = switch_names(fabric);
  for (std::uint32_t index = 0; index < fabric.nodes.size(); ++index) {
    if (fabric.nodes[index].kind != IbKind::fabric_switch) continue;
    number[index] = static_cast<std::uint32_t>(graph.switches.size());
    graph.switches.push_back(std::move(names[index]));
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
    return IbPort{cable.node, cable.port, cable.other_node, cable.other_port};
  }
  if (one == IbKind::fabric_switch && other == IbKind::adapter) {
    return IbPort{cable.other_node, cable.other_port, cable.node, cable.port};
  }
  return std::nullopt;
}

}  // namespace

std::string_view host_in_description(std::string_view description) {
  // Descriptions of adapters without a name of their own, among them those that switches have for reductions.
  const auto words = words_of(description);
  const bool is_product = description.find("Mellanox Technologies") != std::string_view::npos;
  return words.empty() || is_product ? std::string_view{} : words.front();
}

std::vector<std::string> switch_names(const IbFabric& fabric) {
  std::vector<std::string> names(fabric.nodes.size());
  std::unordered_map<std::string_view, int> num_named;
  for (const IbNode& node : fabric.nodes) ++num_named[node.description];
  for (std::uint32_t index = 0; index < fabric.nodes.size(); ++index) {
    const IbNode& node = fabric.nodes[index];
    if (node.kind != IbKind::fabric_switch) continue;
    names[index] = node.description.empty() ? node.id : node.description;
    if (!node.description.empty() && num_named[node.description] > 1) names[index] += fmt::format(" {}", node.id);
  }
  return names;
}

std::vector<IbHost> hosts_of(const std::string& file, const IbFabric& fabric) {
  std::unordered_map<std::uint64_t, std::uint32_t> switch_at;
  std::unordered_map<std::string_view, std::uint32_t> number_of;
  std::vector<IbPort> first;  // by host
  std::vector<IbHost> hosts;
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
    const std::string_view name = host_in_description(adapter.description);
    if (name.empty()) continue;
    const auto [host, is_new] = number_of.try_emplace(name, static_cast<std::uint32_t>(first.size()));
    if (is_new) {
      first.emplace_back();
      hosts.push_back({name, 0, 0});
    }
    if (comes_first(fabric, *port, first[host->second])) first[host->second] = *port;
  }
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    hosts[host].at_switch = first[host].at_switch;
    hosts[host].switch_port = first[host].switch_port;
  }
  return hosts;
}

bool is_ib_line(std::string_view line) {
  constexpr std::array<std::string_view, 6> heads{
      "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="};
  return std::ranges::any_of(heads, [&](std::string_view head) { return line.starts_with(head); }) ||
         is_stanza(words_of(line));
}

IbFabric read_ib_fabric(const std::string& file, std::string_view text) {
  IbReader reader{file};
  Lines lines(text);
  while (const auto next = lines.next()) {
    const Line line{file, lines.number()};
    if (next->starts_with('[')) {
      add_port(reader, line, *next);
      continue;
    }
    const auto words = words_of(next->substr(0, next->find('#')));
    if (is_stanza(words)) begin_stanza(reader, line, *next, *kind_of_stanza(words[0]));
  }
  for (const IbNode& node : reader.fabric.nodes) {
    if (node.kind != IbKind::fabric_switch || node.has_lines) continue;
    Line{file, node.first_line}.refuse(fmt::format("switch {} has no lines of its own", shown(node.id)),
                                       complete_output);
  }
  return std::move(reader.fabric);
}

Network parse_ib_topology(const std::string& file, std::string_view text) {
  const IbFabric fabric = read_ib_fabric(file, text);
  SwitchGraph graph;
  const std::vector<std::uint32_t> switch_number = add_switches(fabric, graph);
  for (const IbHost& host : hosts_of(file, fabric)) {
    graph.hosts.emplace_back(host.name);
    graph.switch_of.push_back(switch_number[host.at_switch]);
  }
  if (graph.hosts.empty()) {
    refuse_file(file, "no adapter at a switch names its host",
                "Descriptions begin with the host's name where rdma-ndd runs, as in \"node018 HCA-1\"");
  }
  return network_of_graph(file, graph);
}

}  // namespace leadline::network
