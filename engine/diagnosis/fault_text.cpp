// SPDX-License-Identifier: Apache-2.0
// Names of components, and sentences about their faults.
#include "diagnosis/fault_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "diagnosis/learnt_groups.hpp"
#include "network/hostlist.hpp"

namespace leadline::diagnosis {

std::string host_name(const Setting& setting, std::int32_t host) {
  const auto index = static_cast<std::size_t>(host);
  const auto& names = setting.layout.host_names;
  return index < names.size() && !names[index].empty() ? names[index]
                                                       : fmt::format("host {}", host_number(setting.layout, host));
}

namespace {

std::string host_of_rank(const Setting& setting, std::int32_t rank) {
  return host_name(setting, static_cast<std::int32_t>(setting.layout.host_of[static_cast<std::size_t>(rank)]));
}

const network::Level& level_of(const Setting& setting, const Component& component) {
  return setting.layout.network.levels[static_cast<std::size_t>(component.level)];
}

/// Of a component of the routes.
const network::RoutePart& part_of(const Setting& setting, const Component& component) {
  return setting.layout.routes.parts[static_cast<std::size_t>(component.first)];
}

std::string group_name(const Setting& setting, const Component& component, std::int32_t group) {
  const network::Level& level = level_of(setting, component);
  return fmt::format("{} {}", level.kind, level.names[static_cast<std::size_t>(group)]);
}

std::string between(const std::string& first, const std::string& second, FaultDirection direction) {
  if (direction == FaultDirection::both) return fmt::format("between {} and {}", first, second);
  return direction == FaultDirection::out ? fmt::format("from {} to {}", first, second)
                                          : fmt::format("from {} to {}", second, first);
}

std::string rank_name(const Setting& setting, std::int32_t rank) {
  return fmt::format("rank {} on {}", rank_number(setting.layout, rank), host_of_rank(setting, rank));
}

/// The leaf switch of a host; null where none is known.
const std::string* leaf_of(const Setting& setting, std::int32_t host) {
  const auto& levels = setting.layout.network.levels;
  if (levels.empty()) return nullptr;
  return &levels[0].names[levels[0].group_of[static_cast<std::size_t>(host)]];
}

std::size_t others_on_leaf(const Setting& setting, std::int32_t host) {
  const auto& group_of = setting.layout.network.levels[0].group_of;
  return static_cast<std::size_t>(
             std::count(group_of.begin(), group_of.end(), group_of[static_cast<std::size_t>(host)])) -
         1;
}

bool is_found(const std::vector<Suspect>& all, ComponentKind kind, std::int32_t first) {
  return std::any_of(all.begin(), all.end(), [&](const Suspect& other) {
    return other.component.kind == kind && other.component.first == first && !other.is_note;
  });
}

void rule_out_switch(const Setting& setting, std::int32_t host, std::vector<std::string>& sentences) {
  const std::string* const leaf = leaf_of(setting, host);
  if (leaf == nullptr) return;
  if (const std::size_t others = others_on_leaf(setting, host); others > 0) {
    sentences.push_back(fmt::format("not {} {}: what its {} other host{} {} in common is as usual",
                                    setting.layout.network.levels[0].kind, *leaf, others, others == 1 ? "" : "s",
                                    others == 1 ? "has" : "have"));
  }
}

void rule_out_host(const Setting& setting, std::int32_t host, const std::vector<Suspect>& all,
                   std::vector<std::string>& sentences) {
  if (is_found(all, ComponentKind::host, host) || is_found(all, ComponentKind::port, host)) return;
  sentences.push_back(fmt::format("not {} as a whole: with others it is as usual", host_name(setting, host)));
}

/// Of the ranks at a port or on a rail, each name once.
std::vector<std::string> adapters_of(const Setting& setting, const Component& component) {
  const auto& adapter_of = setting.layout.adapter_of;
  std::set<std::string> names;
  for (std::size_t rank = 0; rank < adapter_of.size(); ++rank) {
    const std::uint32_t host = setting.layout.host_of[rank];
    const bool is_of_it = component.kind == ComponentKind::rail
                              ? setting.hosts.slot_of[rank] == static_cast<std::uint32_t>(component.first)
                              : host == static_cast<std::uint32_t>(component.first);
    if (is_of_it && !adapter_of[rank].empty()) names.insert(adapter_of[rank]);
  }
  return {names.begin(), names.end()};
}

/// " (mlx5_0)"; empty where they are not known.
std::string adapters_text(const Setting& setting, const Component& component) {
  const std::vector<std::string> names = adapters_of(setting, component);
  return names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "));
}

/// Of learnt ones the places of their ranks, which their number would not tell.
std::string socket_name(const Setting& setting, const Component& component) {
  const std::string host = component.first < 0 ? "all hosts" : host_name(setting, component.first);
  if (!setting.layout.are_sockets_learnt) return fmt::format("socket {} of {}", component.socket, host);
  std::vector<std::size_t> places;
  const auto ranks = setting.hosts.of(static_cast<std::uint32_t>(std::max(component.first, 0)));
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    if (setting.layout.socket_of[ranks[place]] == component.socket) places.push_back(place);
  }
  return fmt::format("the socket of the ranks in places {} of {}", fmt::join(places, ", "), host);
}

}  // namespace

std::string name_of_component(const Setting& setting, const Component& component, FaultDirection direction) {
  if (is_of_routes(component)) return "the " + network::name_of(part_of(setting, component));
  switch (component.kind) {
    case ComponentKind::network_switch:
      return group_name(setting, component, component.first);
    case ComponentKind::uplink:
      return "the uplink of " + group_name(setting, component, component.first);
    case ComponentKind::cable:
      return "the way " + between(group_name(setting, component, component.first),
                                  group_name(setting, component, component.second), direction);
    case ComponentKind::rail:
      return fmt::format("rail {} (the ranks in place {} of all hosts)", component.first, component.first);
    case ComponentKind::host:
      return "host " + host_name(setting, component.first);
    case ComponentKind::port:
      return "the port of " + host_name(setting, component.first) + adapters_text(setting, component);
    case ComponentKind::inside:
      return "the inside of " + host_name(setting, component.first);
    case ComponentKind::socket:
      return socket_name(setting, component);
    case ComponentKind::rank:
      return rank_name(setting, component.first);
    case ComponentKind::link:
      return "the link " +
             between(host_name(setting, component.first), host_name(setting, component.second), direction);
    case ComponentKind::pair:
      return "the pair " +
             between(rank_name(setting, component.first), rank_name(setting, component.second), direction);
    case ComponentKind::target:
      return fmt::format("target {}", component.first);
  }
  return "";
}

namespace {

/// Those of a host; of a socket only those on it.
std::vector<std::int32_t> ranks_on(const Setting& setting, std::int32_t host, std::int32_t socket) {
  std::vector<std::int32_t> ranks;
  for (const std::uint32_t rank : setting.hosts.of(static_cast<std::uint32_t>(host))) {
    if (socket >= 0 && setting.layout.socket_of[rank] != socket) continue;
    ranks.push_back(static_cast<std::int32_t>(rank));
  }
  return ranks;
}

std::string switch_of(const Setting& setting, const Component& component, std::int32_t group) {
  const bool is_known = component.level >= 0 && group >= 0 &&
                        static_cast<std::size_t>(component.level) < setting.layout.network.levels.size();
  return is_known ? level_of(setting, component).names[static_cast<std::size_t>(group)] : "";
}

}  // namespace

std::vector<std::int32_t> hosts_below(const Layout& layout, const Component& component, std::int32_t group) {
  std::vector<std::int32_t> hosts;
  if (component.level < 0 || group < 0) return hosts;
  const auto& group_of = layout.network.levels[static_cast<std::size_t>(component.level)].group_of;
  for (std::size_t host = 0; host < group_of.size(); ++host) {
    if (group_of[host] == static_cast<std::uint32_t>(group)) hosts.push_back(static_cast<std::int32_t>(host));
  }
  return hosts;
}

void name_concerned(const Setting& setting, Fault& fault) {
  const Component& component = fault.component;
  const auto names_of_hosts = [&](const std::vector<std::int32_t>& hosts) {
    std::vector<std::string> names;
    for (const std::int32_t host : hosts) names.push_back(host_name(setting, host));
    return names;
  };
  fault.host_names = names_of_hosts(fault.hosts);
  fault.other_host_names = names_of_hosts(fault.other_hosts);
  fault.ranks.clear(), fault.other_ranks.clear();
  const auto add = [&](std::int32_t number, std::vector<std::string>& names, std::vector<std::int32_t>& ranks) {
    if (number < 0) return;
    if (component.kind == ComponentKind::rank || component.kind == ComponentKind::pair) {
      names = {host_of_rank(setting, number)};
      ranks = {number};
    } else {
      names = {host_name(setting, number)};
      ranks = ranks_on(setting, number, component.socket);
    }
  };
  if (is_of_routes(component)) {
    fault.switch_name = part_of(setting, component).switch_name;
    fault.other_switch_name = part_of(setting, component).other_switch_name;
    return;
  }
  switch (component.kind) {
    case ComponentKind::network_switch:
    case ComponentKind::uplink:
    case ComponentKind::cable:
      fault.switch_name = switch_of(setting, component, component.first);
      fault.other_switch_name = switch_of(setting, component, component.second);
      break;
    case ComponentKind::rail:  // of all hosts
      fault.adapters = adapters_of(setting, component);
      break;
    case ComponentKind::target:
      break;
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::inside:
    case ComponentKind::socket:
    case ComponentKind::rank:
    case ComponentKind::link:
    case ComponentKind::pair:
      if (component.kind == ComponentKind::port) fault.adapters = adapters_of(setting, component);
      add(component.first, fault.host_names, fault.ranks);
      add(component.second, fault.other_host_names, fault.other_ranks);
      break;
  }
}

std::vector<std::string> ruled_out(const Setting& setting, const Suspect& suspect, const std::vector<Suspect>& all) {
  const Component& component = suspect.component;
  std::vector<std::string> sentences;
  if (is_of_routes(component)) {
    sentences.emplace_back("not the ends of its pairs: with others, whose messages do not pass it, they are as usual");
    return sentences;
  }
  switch (component.kind) {
    case ComponentKind::uplink:
      sentences.push_back(
          fmt::format("not {} itself: pairs below it are as usual", group_name(setting, component, component.first)));
      [[fallthrough]];
    case ComponentKind::network_switch:
      if (suspect.share < 1) {
        sentences.push_back(
            fmt::format("not all of its cables: {:.0f} % of the pairs that cross it are slow, so one in about {:.0f}",
                        100 * suspect.share, 1 / suspect.share));
      } else if (component.kind == ComponentKind::network_switch) {
        const auto& group_of = level_of(setting, component).group_of;
        const auto num = std::ranges::count(group_of, static_cast<std::uint32_t>(component.first));
        sentences.push_back(
            fmt::format("not one of its hosts; that all {} are slow by themselves looks the same", num));
      } else {
        sentences.emplace_back("not one of its hosts: nearly all of them show it");
      }
      break;
    case ComponentKind::cable:
      if (level_of(setting, component).names.size() == 2) {
        sentences.emplace_back("not the two switches: pairs below either are faster");
        break;
      }
      sentences.push_back(fmt::format("not {} or {}: their pairs with others are as usual",
                                      group_name(setting, component, component.first),
                                      group_name(setting, component, component.second)));
      break;
    case ComponentKind::rail:
      sentences.emplace_back("not single hosts: nearly all of them show it");
      break;
    case ComponentKind::port:
      sentences.emplace_back("not the host itself: its ranks reach each other as fast as those of other hosts do");
      [[fallthrough]];
    case ComponentKind::host:
      if (const auto num = setting.hosts.of(static_cast<std::uint32_t>(component.first)).size(); num > 1) {
        sentences.push_back(
            component.kind == ComponentKind::port
                ? "not one of its ranks: nearly all of them show it"
                : fmt::format("not one of its ranks; that all {} are slow by themselves looks the same", num));
      }
      rule_out_switch(setting, component.first, sentences);
      break;
    case ComponentKind::inside:
      sentences.emplace_back("not its port: its pairs with other hosts are as usual");
      break;
    case ComponentKind::socket:
      if (component.first >= 0) {
        sentences.push_back(
            fmt::format("not all of {}: ranks on its other socket are as usual", host_name(setting, component.first)));
        sentences.emplace_back("not how the machine is built: on other hosts this socket is as usual");
      }
      break;
    case ComponentKind::rank:
      rule_out_host(setting,
                    static_cast<std::int32_t>(setting.layout.host_of[static_cast<std::size_t>(component.first)]), all,
                    sentences);
      break;
    case ComponentKind::link:
      for (const std::int32_t host : {component.first, component.second}) rule_out_host(setting, host, all, sentences);
      break;
    case ComponentKind::pair:
      for (const std::int32_t rank : {component.first, component.second}) {
        sentences.push_back(fmt::format("not rank {} by itself: with others it is as usual", rank));
      }
      break;
    case ComponentKind::target:
      break;
  }
  return sentences;
}

std::string two_kinds(const Setting& setting, const std::vector<Suspect>& slow, std::size_t num) {
  constexpr std::size_t most_names = 32;
  const ComponentKind kind = slow.front().component.kind;
  const char* const nouns = kind == ComponentKind::rank     ? "ranks"
                            : kind == ComponentKind::socket ? "sockets"
                            : kind == ComponentKind::inside ? "insides of hosts"
                                                            : "hosts";
  const bool are_hosts = kind == ComponentKind::host || kind == ComponentKind::inside;
  std::vector<double> effects;
  std::vector<std::string> names;
  for (const Suspect& one : slow) {
    effects.push_back(one.effect);
    if (are_hosts) {
      names.push_back(host_name(setting, one.component.first));
    } else if (names.size() < most_names) {
      names.push_back(name_of_component(setting, one.component, one.direction));
    }
  }
  if (are_hosts) {
    names = {network::folded_hostlist(names)};
  } else if (slow.size() > most_names) {
    names.push_back(fmt::format("{} more", slow.size() - most_names));
  }
  return fmt::format(
      "{} of {} {} take {:.2f} times as long as the others: two kinds of {}, or a fault that all of these have; the "
      "times alone cannot tell. Slower: {}",
      slow.size(), num, nouns, std::exp(middle_of(std::move(effects)).median), nouns, fmt::join(names, ", "));
}

namespace {

/// Another switch or two on the way cost less than this, of the time between hosts.
constexpr double most_of_switches = 0.6;

std::string farther_where_unknown(const Setting& setting, const Suspect& suspect) {
  const bool is_told = !setting.layout.network.levels.empty() && !is_learnt(setting.layout.network);
  const bool has_inside = suspect.component.kind == ComponentKind::host &&
                          setting.hosts.of(static_cast<std::uint32_t>(suspect.component.first)).size() > 1;
  if (is_told || has_inside || suspect.effect > std::log1p(most_of_switches)) return "";
  return ". A host behind more switches than most looks the same: --topology would tell";
}

}  // namespace

std::string advice_for(const Setting& setting, const Suspect& suspect, Symptom symptom) {
  const Component& component = suspect.component;
  if (suspect.is_note) {
    return "Ranks that talk much to other hosts are better off on the other socket, or each socket on an adapter of "
           "its own";
  }
  std::string name;
  if (component.kind == ComponentKind::network_switch) {
    name = is_of_routes(component) ? part_of(setting, component).switch_name
                                   : group_name(setting, component, component.first);
  }
  const bool is_of_host = component.kind == ComponentKind::host || component.kind == ComponentKind::port;
  return advice_for(component.kind, symptom, name) +
         (is_of_host && symptom == Symptom::slow ? farther_where_unknown(setting, suspect) : "");
}

std::string advice_for(ComponentKind kind, Symptom symptom, const std::string& name) {
  const bool loses = symptom == Symptom::unsteady;
  switch (kind) {
    case ComponentKind::network_switch:
      return fmt::format("Look at {}: its load, its errors, its firmware, its fans", name);
    case ComponentKind::uplink:
    case ComponentKind::cable:
      return "Look at the error counters and the speed of its cables; one that is down or has fallen back slows the "
             "others";
    case ComponentKind::rail:
      return "Look at what these ranks have in common: the adapter of this number, its switch, its driver setting";
    case ComponentKind::host:
      return loses ? "Look for what shares its cores now and then: daemons, interrupts, another job"
                   : "Look at its load, clock frequency, temperature, memory and power; take it out of service until "
                     "it is repaired";
    case ComponentKind::port:
      return loses ? "Look at the error and retransmission counters of its adapter and of the switch's port; reseat or "
                     "replace the cable"
                   : "Look at the speed and width that its adapter and the switch's port have agreed on, their error "
                     "counters, the adapter's PCIe width; swap the cable";
    case ComponentKind::inside:
      return "Look at its memory (channels, NUMA settings), clock frequency and at what else runs there";
    case ComponentKind::socket:
      return "Look at which socket its adapter sits on, and at the link between its sockets";
    case ComponentKind::rank:
      return "Look at what shares its core, at its binding and at its device";
    case ComponentKind::link:
      return loses ? "Look at the counters of the cables and ports on the route between the two"
                   : "Look at the route between the two: its cables, and who else is sent over them";
    case ComponentKind::pair:
      return "Measure it again; if it stays, look at the route between the two ranks and at their bindings";
    case ComponentKind::target:
      return "Look at the storage target or server behind it: its disks, a rebuild, its load, how full it is";
  }
  return "";
}

}  // namespace leadline::diagnosis
