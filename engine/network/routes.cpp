// SPDX-License-Identifier: Apache-2.0
// Reads the forwarding tables of switches and follows them from each leaf switch to each host.
#include "network/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "network/ib_topology.hpp"
#include "network/lines.hpp"
#include "network/network.hpp"
#include "network/packing.hpp"
#include "network/parse_network.hpp"

namespace leadline::network {
namespace {

constexpr const char* known_tables =
    "It takes what 'dump_lfts.sh' prints, or 'ibroute' for each switch, one after the other";
constexpr const char* known_topology = "Forwarding tables need the output of ibnetdiscover as --topology";
constexpr std::size_t most_passed = std::size_t{1} << 28;  // 1 GiB

/// About a file of tables; `line` 0: about all of it.
[[noreturn]] void refuse(const std::string& file, std::size_t line, const std::string& why,
                         const std::string& hint = known_tables) {
  throw Error(ExitStatus::bad_command_line, fmt::format("cannot use '{}' as forwarding tables", file),
              line > 0 ? fmt::format("line {}: {}", line, why) : why, hint);
}

/// The whole text as a number.
std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && stop == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                    : std::nullopt;
}

struct Exit {
  std::uint32_t port = 0;
  std::size_t line = 0;
};

struct Table {
  std::uint32_t node = nobody;  ///< of the fabric
  std::size_t line = 0;
  std::unordered_map<std::uint32_t, Exit> exits;  ///< by destination
};

struct Tables {
  std::vector<Table> of_switches;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> lids_of_host;  ///< by the name in its description
};

/// "Unicast lids [0x0-0x8] of switch Lid 2 guid 0x0002c902400265e0 (name):"
bool is_head(std::string_view line) {
  return line.starts_with("Unicast lids ") && line.find(" of switch ") != line.npos;
}

std::optional<std::uint64_t> guid_in(std::string_view head) {
  constexpr std::string_view before = " guid 0x";
  const std::size_t at = head.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  head.remove_prefix(at + before.size());
  return number_in(head.substr(0, head.find_first_not_of("0123456789abcdefABCDEF")), 16);
}

/// Between the first and the last apostrophe: "(Channel Adapter portguid 0x...: 'node01 HCA-1')".
std::string_view host_in(std::string_view line) {
  if (line.find("Channel Adapter") == std::string_view::npos) return {};
  const std::size_t begin = line.find('\''), end = line.rfind('\'');
  if (begin == end) return {};
  return host_in_description(line.substr(begin + 1, end - begin - 1));
}

Tables read_tables(const std::string& file, std::string_view text, const IbFabric& fabric,
                   const std::string& topology_file) {
  std::unordered_map<std::uint64_t, std::uint32_t> switch_of_guid;
  for (std::uint32_t node = 0; node < fabric.nodes.size(); ++node) {
    const IbNode& one = fabric.nodes[node];
    if (one.kind != IbKind::fabric_switch || !one.id.starts_with("S-")) continue;
    if (const auto guid = number_in(one.id.substr(2), 16)) switch_of_guid[*guid] = node;
  }
  Tables tables;
  std::map<std::uint32_t, std::size_t> line_of_table;
  Lines lines(text);
  bool is_in_table = false;
  while (const auto line = lines.next()) {
    const std::size_t number = lines.number();
    if (is_head(*line)) {
      const auto guid = guid_in(*line);
      if (!guid) refuse(file, number, "it names no guid of a switch");
      const auto node = switch_of_guid.find(*guid);
      if (node == switch_of_guid.end()) {
        refuse(file, number, fmt::format("'{}' has no switch with guid 0x{:016x}", topology_file, *guid),
               "Tables and topology must be of one fabric");
      }
      const auto [known, is_new] = line_of_table.try_emplace(node->second, number);
      if (!is_new) refuse(file, number, fmt::format("the table of this switch is in line {}, too", known->second));
      tables.of_switches.push_back({node->second, number, {}});
      is_in_table = true;
      continue;
    }
    if (line->starts_with("Multicast mlids")) is_in_table = false;
    const auto words = words_of(*line);
    if (words.empty() || !words[0].starts_with("0x") || (!is_in_table && !tables.of_switches.empty())) continue;
    if (tables.of_switches.empty()) refuse(file, number, "an entry without a switch");
    constexpr std::uint64_t none = UINT64_MAX;
    const std::uint64_t lid = number_in(words[0], 16).value_or(none);
    const std::uint64_t port = words.size() < 2 ? none : number_in(words[1], 10).value_or(none);
    if (lid == 0 || lid > 0xFFFF) refuse(file, number, fmt::format("{} is no LID", shown(words[0])));
    if (port > 255) refuse(file, number, "it names no port behind the LID");
    const auto destination = static_cast<std::uint32_t>(lid);
    tables.of_switches.back().exits[destination] = {static_cast<std::uint32_t>(port), number};
    const std::string_view host = host_in(*line);
    if (host.empty()) continue;
    auto& lids = tables.lids_of_host[host];
    if (std::ranges::find(lids, destination) == lids.end()) lids.push_back(destination);
  }
  if (tables.of_switches.empty()) refuse(file, 0, "it has no table of a switch");
  return tables;
}

/// The far end of each port of a switch.
std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> ends_of_cables(const IbFabric& fabric) {
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> ends;
  for (const IbCable& cable : fabric.cables) {
    ends[std::uint64_t{cable.node} << 32 | cable.port] = {cable.other_node, cable.other_port};
    ends[std::uint64_t{cable.other_node} << 32 | cable.other_port] = {cable.node, cable.port};
  }
  return ends;
}

class Following {
 public:
  Following(const std::string& file, const Tables& tables, const IbFabric& fabric)
      : file_(file), fabric_(fabric), names_(switch_names(fabric)), ends_(ends_of_cables(fabric)) {
    table_of_.assign(fabric.nodes.size(), nullptr);
    for (const Table& table : tables.of_switches) table_of_[table.node] = &table;
    has_hosts_.assign(fabric.nodes.size(), 0);
  }

  void add_leaf(std::uint32_t node) { has_hosts_[node] = 1; }
  const Table* table_of(std::uint32_t node) const { return table_of_[node]; }
  const std::string& name_of(std::uint32_t node) const { return names_[node]; }

  /// Adds the parts of the way from a switch to this LID; nothing where a table or an entry is missing.
  void follow(std::uint32_t node, std::uint32_t lid, Routes& routes) {
    const std::size_t begin = routes.passed.size();
    std::size_t num_hops = 0;
    while (true) {
      const Table* const table = table_of_[node];
      const auto exit = table == nullptr ? decltype(table->exits.end()){} : table->exits.find(lid);
      if (table == nullptr || exit == table->exits.end()) break;
      const auto end = ends_.find(std::uint64_t{node} << 32 | exit->second.port);
      if (end == ends_.end()) break;
      const auto [other, other_port] = end->second;
      if (fabric_.nodes[other].kind != IbKind::fabric_switch) return;
      if (++num_hops > most_hops) {
        refuse(file_, exit->second.line, fmt::format("messages to LID 0x{:04x} go round from here", lid),
               "Take the tables when the subnet manager is at rest");
      }
      routes.passed.push_back(part_of(routes, {names_[node], names_[other], exit->second.port, other_port}));
      if (has_hosts_[other] == 0) routes.passed.push_back(part_of(routes, {names_[other], {}, 0, 0}));
      node = other;
    }
    routes.passed.resize(begin);
  }

 private:
  /// A cable has one number, whichever way it is passed.
  std::uint32_t part_of(Routes& routes, RoutePart part) {
    if (!part.is_switch() &&
        std::tie(part.other_switch_name, part.other_port) < std::tie(part.switch_name, part.port)) {
      std::swap(part.switch_name, part.other_switch_name);
      std::swap(part.port, part.other_port);
    }
    const auto number = static_cast<std::uint32_t>(routes.parts.size());
    const auto [known, is_new] =
        number_of_.try_emplace({part.switch_name, part.other_switch_name, part.port, part.other_port}, number);
    if (is_new) routes.parts.push_back(std::move(part));
    return known->second;
  }

  const std::string& file_;
  const IbFabric& fabric_;
  std::vector<std::string> names_;
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> ends_;
  std::vector<const Table*> table_of_;
  std::vector<std::uint8_t> has_hosts_;
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>, std::uint32_t> number_of_;
};

/// The hosts of the run among those of the fabric, by name, with the rules that hold for --topology.
std::vector<IbHost> chosen_hosts(const std::string& topology_file, const std::vector<IbHost>& all,
                                 const std::vector<std::string>& names) {
  Network numbered{topology_file, {}, {{"host", {}, {}}}, {}};
  Level& level = numbered.levels.front();
  for (std::uint32_t host = 0; host < all.size(); ++host) {
    numbered.hosts.emplace_back(all[host].name);
    level.names.push_back(std::to_string(host));
    level.group_of.push_back(host);
  }
  const Level own = for_hosts(numbered, names).levels.front();
  std::vector<IbHost> chosen;
  for (const std::uint32_t group : own.group_of) chosen.push_back(all[*number_in(own.names[group], 10)]);
  return chosen;
}

/// Of several adapters the LID that leaves the host's switch where the host is connected.
std::uint32_t lid_of(const std::string& file, const Tables& tables, const Table& at_leaf, const IbHost& host) {
  const auto lids = tables.lids_of_host.find(host.name);
  if (lids == tables.lids_of_host.end())
    refuse(file, 0, fmt::format("no line names host {}", host.name), "Tables must name the hosts: ibroute without -n");
  for (const std::uint32_t lid : lids->second) {
    const auto exit = at_leaf.exits.find(lid);
    if (exit != at_leaf.exits.end() && exit->second.port == host.switch_port) return lid;
  }
  refuse(file, at_leaf.line, fmt::format("no entry leads to host {} by port {}", host.name, host.switch_port),
         "Tables and topology must be of one fabric at one time");
}

}  // namespace

std::string name_of(const RoutePart& part) {
  if (part.is_switch()) return "switch " + part.switch_name;
  return fmt::format("cable {} (port {}) - {} (port {})", part.switch_name, part.port, part.other_switch_name,
                     part.other_port);
}

Routes parse_routes(const std::string& tables_file, std::string_view tables_text, const std::string& topology_file,
                    std::string_view topology, const std::vector<std::string>& names) {
  const IbFabric fabric = read_ib_fabric(topology_file, topology);
  const Tables tables = read_tables(tables_file, tables_text, fabric, topology_file);
  const std::vector<IbHost> hosts = chosen_hosts(topology_file, hosts_of(topology_file, fabric), names);
  Following following(tables_file, tables, fabric);
  Routes routes;
  std::vector<std::uint32_t> leaves, leaf_of_node(fabric.nodes.size(), nobody);
  for (const IbHost& host : hosts) {
    std::uint32_t& leaf = leaf_of_node[host.at_switch];
    if (leaf == nobody) {
      leaf = static_cast<std::uint32_t>(leaves.size());
      leaves.push_back(host.at_switch);
      following.add_leaf(host.at_switch);
    }
    routes.leaf_of.push_back(leaf);
  }
  std::vector<std::uint32_t> lids;
  for (const IbHost& host : hosts) {
    const Table* const at_leaf = following.table_of(host.at_switch);
    if (at_leaf == nullptr) {
      refuse(tables_file, 0,
             fmt::format("it has no table of {}, where host {} is", following.name_of(host.at_switch), host.name));
    }
    lids.push_back(lid_of(tables_file, tables, *at_leaf, host));
  }
  for (const std::uint32_t leaf : leaves) {
    for (const std::uint32_t lid : lids) {
      routes.begin.push_back(routes.passed.size());
      following.follow(leaf, lid, routes);
      if (routes.passed.size() > most_passed) refuse(tables_file, 0, "its ways have too many cables in all");
    }
  }
  routes.begin.push_back(routes.passed.size());
  return routes;
}

Routes read_routes(const std::string& tables_path, const std::string& topology_path,
                   const std::vector<std::string>& hosts) {
  // The topology first, so that of two files that cannot be read every compiler's program names the same one.
  const std::string topology = read_text(topology_path, known_topology);
  return parse_routes(tables_path, read_text(tables_path, known_tables), topology_path, topology, hosts);
}

std::string packed(const Routes& routes) {
  std::string are_switches;
  for (const RoutePart& part : routes.parts) are_switches.push_back(part.is_switch() ? 1 : 0);
  std::string text;
  put_list(text, are_switches);
  put_list(text, routes.leaf_of);
  put_list(text, routes.begin);
  put_list(text, routes.passed);
  return text;
}

Routes unpacked_routes(std::string_view text) {
  std::string are_switches;
  take_list(text, are_switches);
  Routes routes;
  for (const char is_switch : are_switches) routes.parts.push_back({"", is_switch == 1 ? "" : "another", 0, 0});
  take_list(text, routes.leaf_of);
  take_list(text, routes.begin);
  take_list(text, routes.passed);
  return routes;
}

}  // namespace leadline::network
