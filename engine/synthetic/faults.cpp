// SPDX-License-Identifier: Apache-2.0
// Reads faults from JSON, and draws random ones.
#include "synthetic/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/random.hpp"

namespace leadline::synthetic {
namespace {

constexpr FaultKind all_kinds[] = {
    FaultKind::host,   FaultKind::port, FaultKind::port_one_way, FaultKind::inside,         FaultKind::rank,
    FaultKind::socket, FaultKind::link, FaultKind::link_one_way, FaultKind::network_switch, FaultKind::uplink,
    FaultKind::cable,  FaultKind::rail, FaultKind::pair,
};

/// A group of switches' hosts.
struct Group {
  std::int32_t level = 0, number = 0;
};

/// Hosts of the machine below each group of a level; those that the machine does not use do not count.
std::vector<std::uint32_t> num_hosts_below(const Machine& machine, std::size_t level) {
  std::vector<std::uint32_t> num(machine.network.levels[level].names.size());
  for (std::uint32_t host = 0; host < num_hosts(machine); ++host) ++num[machine.network.levels[level].group_of[host]];
  return num;
}

/// Groups with two hosts or more, in levels with two such groups or more.
std::vector<Group> groups_of(const Machine& machine) {
  std::vector<Group> found;
  for (std::size_t level = 0; level < machine.network.levels.size(); ++level) {
    const std::vector<std::uint32_t> num = num_hosts_below(machine, level);
    if (std::ranges::count_if(num, [](std::uint32_t n) { return n >= 2; }) < 2) continue;
    for (std::size_t group = 0; group < num.size(); ++group) {
      if (num[group] >= 2) found.push_back({static_cast<std::int32_t>(level), static_cast<std::int32_t>(group)});
    }
  }
  return found;
}

bool is_possible(const Machine& machine, FaultKind kind) {
  const bool has_hosts = num_hosts(machine) >= 3, has_ranks = machine.ranks_per_host >= 2;
  switch (kind) {
    case FaultKind::host:
    case FaultKind::port_one_way:
      return has_hosts;
    case FaultKind::port:
    case FaultKind::link:
    case FaultKind::link_one_way:
    case FaultKind::rail:
    case FaultKind::rank:
      return has_hosts && has_ranks;
    case FaultKind::inside:
      return machine.ranks_per_host >= 3;
    case FaultKind::socket:
      return has_hosts && machine.sockets_per_host >= 2 && machine.ranks_per_host > machine.sockets_per_host;
    case FaultKind::network_switch:
    case FaultKind::uplink:
    case FaultKind::cable:
      return !groups_of(machine).empty();
    case FaultKind::pair:
      return machine.num_ranks >= 3;
  }
  return false;
}

/// Components, and the hosts that belong to them.
class Draw {
 public:
  Draw(const Machine& machine, std::uint64_t seed)
      : machine_(machine), random_(seed), groups_(groups_of(machine)), is_taken_(num_hosts(machine)) {}

  PlantedFault fault(FaultKind kind);

  /// Whether the hosts of a fault were free; marks them as taken.
  bool take(const PlantedFault& fault);

  double uniform() { return random_.uniform(); }
  FaultKind one_of(const std::vector<FaultKind>& kinds) { return kinds[random_.below(kinds.size())]; }

 private:
  std::int32_t below(std::uint32_t num) { return static_cast<std::int32_t>(random_.below(num)); }
  std::int32_t other_than(std::int32_t first, std::uint32_t num) {
    const std::int32_t number = below(num - 1);
    return number >= first ? number + 1 : number;
  }
  Component group_component(ComponentKind kind);
  std::vector<std::uint32_t> hosts_of(const Component& component) const;

  const Machine& machine_;
  Random random_;
  std::vector<Group> groups_;
  std::vector<bool> is_taken_;  // by host
  bool has_rail_ = false;
};

Component Draw::group_component(ComponentKind kind) {
  const Group& group = groups_[random_.below(groups_.size())];
  Component component{kind, group.level, group.number, -1, -1};
  if (kind != ComponentKind::cable) return component;
  std::vector<Group> others;
  for (const Group& other : groups_)
    if (other.level == group.level && other.number != group.number) others.push_back(other);
  component.second = others[random_.below(others.size())].number;
  return component;
}

PlantedFault Draw::fault(FaultKind kind) {
  const std::uint32_t hosts = num_hosts(machine_), ranks = machine_.num_ranks;
  PlantedFault fault;
  const auto component = [&](ComponentKind of, std::int32_t first, std::int32_t second = -1, std::int32_t socket = -1) {
    fault.component = {of, -1, first, second, socket};
  };
  const auto one_way = [&] { fault.direction = random_.below(2) == 0 ? FaultDirection::out : FaultDirection::in; };
  switch (kind) {
    case FaultKind::host:
      component(ComponentKind::host, below(hosts));
      break;
    case FaultKind::port_one_way:
      one_way();
      [[fallthrough]];
    case FaultKind::port:
      component(ComponentKind::port, below(hosts));
      break;
    case FaultKind::inside:
      component(ComponentKind::inside, below(hosts));
      break;
    case FaultKind::rank:
      component(ComponentKind::rank, below(ranks));
      break;
    case FaultKind::socket:
      component(ComponentKind::socket, below(hosts), -1, below(machine_.sockets_per_host));
      break;
    case FaultKind::link_one_way:
      fault.direction = FaultDirection::out;
      [[fallthrough]];
    case FaultKind::link: {
      const std::int32_t first = below(hosts);
      component(ComponentKind::link, first, other_than(first, hosts));
      break;
    }
    case FaultKind::network_switch:
      fault.component = group_component(ComponentKind::network_switch);
      break;
    case FaultKind::uplink:
      fault.component = group_component(ComponentKind::uplink);
      break;
    case FaultKind::cable:
      fault.component = group_component(ComponentKind::cable);
      break;
    case FaultKind::rail:
      component(ComponentKind::rail, below(machine_.ranks_per_host));
      break;
    case FaultKind::pair: {
      const std::int32_t first = below(ranks);
      component(ComponentKind::pair, first, other_than(first, ranks));
      break;
    }
  }
  return fault;
}

std::vector<std::uint32_t> Draw::hosts_of(const Component& component) const {
  const auto host = [](std::int32_t number) { return static_cast<std::uint32_t>(number); };
  std::vector<std::uint32_t> hosts;
  switch (component.kind) {
    case ComponentKind::network_switch:
    case ComponentKind::uplink:
    case ComponentKind::cable: {
      const auto& group_of = machine_.network.levels[static_cast<std::size_t>(component.level)].group_of;
      for (std::uint32_t each = 0; each < num_hosts(machine_); ++each) {
        const bool is_second = component.kind == ComponentKind::cable && group_of[each] == host(component.second);
        if (group_of[each] == host(component.first) || is_second) hosts.push_back(each);
      }
      break;
    }
    case ComponentKind::rail:
    case ComponentKind::target:
      break;
    case ComponentKind::link:
      hosts.push_back(host(component.second));
      [[fallthrough]];
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::inside:
    case ComponentKind::socket:
      hosts.push_back(host(component.first));
      break;
    case ComponentKind::pair:
      hosts.push_back(host_of(machine_, host(component.second)));
      [[fallthrough]];
    case ComponentKind::rank:
      hosts.push_back(host_of(machine_, host(component.first)));
      break;
  }
  return hosts;
}

bool Draw::take(const PlantedFault& fault) {
  // Every host is on a rail, so one is all that there may be; it crosses the other faults in a slot of their hosts.
  if (fault.component.kind == ComponentKind::rail) {
    if (has_rail_) return false;
    has_rail_ = true;
    return true;
  }
  const std::vector<std::uint32_t> hosts = hosts_of(fault.component);
  if (std::ranges::any_of(hosts, [&](std::uint32_t host) { return is_taken_[host]; })) return false;
  for (const std::uint32_t host : hosts) is_taken_[host] = true;
  return true;
}

}  // namespace

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::host:
      return "host";
    case FaultKind::port:
      return "port";
    case FaultKind::port_one_way:
      return "port_one_way";
    case FaultKind::inside:
      return "inside";
    case FaultKind::rank:
      return "rank";
    case FaultKind::socket:
      return "socket";
    case FaultKind::link:
      return "link";
    case FaultKind::link_one_way:
      return "link_one_way";
    case FaultKind::network_switch:
      return "switch";
    case FaultKind::uplink:
      return "uplink";
    case FaultKind::cable:
      return "cable";
    case FaultKind::rail:
      return "rail";
    case FaultKind::pair:
      return "pair";
  }
  return "unknown";
}

std::vector<FaultKind> possible_kinds(const Machine& machine) {
  std::vector<FaultKind> kinds;
  std::ranges::copy_if(all_kinds, std::back_inserter(kinds),
                       [&](FaultKind kind) { return is_possible(machine, kind); });
  return kinds;
}

std::vector<PlantedFault> random_scenario(const Machine& machine, std::uint64_t seed,
                                          const ScenarioSettings& settings) {
  const std::vector<FaultKind> kinds = settings.kinds.empty() ? possible_kinds(machine) : settings.kinds;
  for (const FaultKind kind : kinds) {
    if (is_possible(machine, kind)) continue;
    throw Error(ExitStatus::bad_command_line, fmt::format("there can be no random fault of the kind {}", name_of(kind)),
                "this machine is too small, or of one switch or socket, for it to be distinguished from others");
  }
  constexpr int most_tries = 1000;
  Draw draw(machine, seed);
  std::vector<PlantedFault> faults;
  for (int tries = 0; faults.size() < settings.num_faults && tries < most_tries && !kinds.empty(); ++tries) {
    PlantedFault fault = draw.fault(draw.one_of(kinds));
    if (!draw.take(fault)) continue;
    const double share = draw.uniform();
    if (draw.uniform() < settings.unsteady_share) {
      fault.loss = settings.loss;
    } else {
      fault.factor = settings.factor_low * std::pow(settings.factor_high / settings.factor_low, share);
    }
    faults.push_back(fault);
    tries = 0;
  }
  if (faults.size() < settings.num_faults) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("{} random faults do not fit into this machine", settings.num_faults),
                fmt::format("{} found a place where no other is", faults.size()), "Ask for fewer");
  }
  return faults;
}

namespace {

struct KeyOfComponent {
  const char* key;
  ComponentKind kind;
};

constexpr std::array keys{
    KeyOfComponent{"slow_host", ComponentKind::host},     KeyOfComponent{"slow_port", ComponentKind::port},
    KeyOfComponent{"slow_inside", ComponentKind::inside}, KeyOfComponent{"slow_rank", ComponentKind::rank},
    KeyOfComponent{"slow_socket", ComponentKind::socket}, KeyOfComponent{"slow_link", ComponentKind::link},
    KeyOfComponent{"slow_pair", ComponentKind::pair},     KeyOfComponent{"slow_switch", ComponentKind::network_switch},
    KeyOfComponent{"slow_uplink", ComponentKind::uplink}, KeyOfComponent{"slow_cable", ComponentKind::cable},
    KeyOfComponent{"slow_rail", ComponentKind::rail},
};

std::string known_keys() {
  std::string names;
  for (const KeyOfComponent& each : keys) names += (names.empty() ? "" : ", ") + std::string(each.key);
  return names;
}

bool is_of_switches(ComponentKind kind) {
  return kind == ComponentKind::network_switch || kind == ComponentKind::uplink || kind == ComponentKind::cable;
}

bool has_two_ends(ComponentKind kind) {
  return kind == ComponentKind::link || kind == ComponentKind::pair || kind == ComponentKind::cable;
}

/// Names and numbers of one fault.
class ComponentReader {
 public:
  ComponentReader(const Machine& machine, JsonMembers& members) : machine_(machine), members_(members) {}

  Component read(ComponentKind kind, const Json& value, const JsonLocation& where) {
    component_.kind = kind;
    if (is_of_switches(kind)) read_level();
    const bool is_pair = has_two_ends(kind) || kind == ComponentKind::socket;
    if (!is_pair) {
      component_.first = end(value, where);
      return component_;
    }
    if (!value.is_array() || value.size() != 2)
      refuse(where, kind == ComponentKind::socket ? "is not [host, socket]" : "is not [one end, the other]");
    component_.first = end(value.at(0), where.at(0));
    (kind == ComponentKind::socket ? component_.socket : component_.second) =
        kind == ComponentKind::socket ? json_index(value.at(1), where.at(1)) : end(value.at(1), where.at(1));
    return component_;
  }

 private:
  void read_level() {
    const auto& levels = machine_.network.levels;
    if (levels.empty()) refuse(members_.location(), "the topology has no switches");
    if (const Json* level = members_.find("level")) {
      component_.level = json_index(*level, members_.location().of("level"));
      if (static_cast<std::size_t>(component_.level) >= levels.size())
        refuse(members_.location().of("level"),
               fmt::format("there is no level {}, there are {}", component_.level, levels.size()));
    }
  }

  std::int32_t end(const Json& value, const JsonLocation& where) {
    switch (component_.kind) {
      case ComponentKind::network_switch:
      case ComponentKind::uplink:
      case ComponentKind::cable:
        return group(value, where);
      case ComponentKind::rank:
      case ComponentKind::pair:
      case ComponentKind::rail:
      case ComponentKind::target:
        return json_index(value, where);
      case ComponentKind::host:
      case ComponentKind::port:
      case ComponentKind::inside:
      case ComponentKind::socket:
      case ComponentKind::link:
        break;
    }
    return host(value, where);
  }

  std::int32_t host(const Json& value, const JsonLocation& where) const {
    if (!value.is_string()) return json_index(value, where);
    const auto name = value.get<std::string>();
    for (std::uint32_t host = 0; host < num_hosts(machine_); ++host)
      if (host_name(machine_, host) == name) return static_cast<std::int32_t>(host);
    refuse(where, fmt::format("there is no host {} in this machine", name));
  }

  /// By name in the level that is given, or that the other end has named, or else in any that has it.
  std::int32_t group(const Json& value, const JsonLocation& where) {
    if (!value.is_string()) {
      if (component_.level < 0) component_.level = 0;
      return json_index(value, where);
    }
    const auto name = value.get<std::string>();
    std::vector<std::pair<std::int32_t, std::int32_t>> found;
    for (std::int32_t level = 0; std::cmp_less(level, machine_.network.levels.size()); ++level) {
      const auto& names = machine_.network.levels[static_cast<std::size_t>(level)].names;
      const auto it = std::ranges::find(names, name);
      if (it != names.end() && (component_.level < 0 || component_.level == level))
        found.emplace_back(level, static_cast<std::int32_t>(it - names.begin()));
    }
    if (found.empty()) refuse(where, fmt::format("there is no switch {} in this machine{}", name, of_level()));
    if (found.size() > 1) refuse(where, fmt::format("{} is in several levels: say which by \"level\"", name));
    component_.level = found[0].first;
    return found[0].second;
  }

  std::string of_level() const { return component_.level < 0 ? "" : fmt::format(", level {}", component_.level); }

  const Machine& machine_;
  JsonMembers& members_;
  Component component_;
};

FaultDirection parse_direction(ComponentKind kind, const Json& value, const JsonLocation& where) {
  const std::string word = text_of(value, where);
  const std::pair<const char*, const char*> words =
      has_two_ends(kind) ? std::pair{"there", "back"} : std::pair{"sending", "receiving"};
  if (kind == ComponentKind::inside) refuse(where, "has no effect: what is inside a host has no direction");
  if (word == "both") return FaultDirection::both;
  if (word == words.first) return FaultDirection::out;
  if (word == words.second) return FaultDirection::in;
  refuse(where, fmt::format("is not both, {} or {}", words.first, words.second));
}

void parse_effect(JsonMembers& members, PlantedFault& fault) {
  const auto number = [&](const char* name, double least, double most, double& member) {
    return members.optional(
        name,
        [=](const Json& value, const JsonLocation& location) { return number_between(value, location, least, most); },
        member);
  };
  const bool has_factor = number("factor", 1, 1e6, fault.factor), has_more = number("add_ns", 0, 1e12, fault.add_ns);
  const bool has_loss = number("loss", 0, 1, fault.loss), has_retry = number("retry_ns", 1, 1e12, fault.retry_ns);
  if (!has_factor && !has_more && !has_loss) refuse(members.location(), "has no effect: factor, add_ns or loss");
  if (has_retry && !has_loss) refuse(members.location().of("retry_ns"), "has no effect without loss");
  bool only_under_load = false, is_transient = false;
  members.optional("only_under_load", truth_of, only_under_load);
  members.optional("transient", truth_of, is_transient);
  if (only_under_load && is_transient) refuse(members.location(), "is both transient and only_under_load");
  if (only_under_load) fault.lasts = Persistence::only_under_load;
  if (is_transient) fault.lasts = Persistence::transient;
}

PlantedFault parse_fault(const Machine& machine, const Json& json, const JsonLocation& location) {
  JsonMembers members(json, location);
  PlantedFault fault;
  bool is_known = false;
  for (const KeyOfComponent& each : keys) {
    const Json* value = is_known ? nullptr : members.find(each.key);
    if (value == nullptr) continue;
    fault.component = ComponentReader(machine, members).read(each.kind, *value, location.of(each.key));
    is_known = true;
  }
  if (!is_known) refuse(location, "names no known fault: " + known_keys());
  const ComponentKind kind = fault.component.kind;
  members.optional(
      "direction", [&](const Json& value, const JsonLocation& where) { return parse_direction(kind, value, where); },
      fault.direction);
  parse_effect(members, fault);
  members.refuse_others();
  try {
    check(machine, fault, location.key);
  } catch (const Error& error) {
    refuse(location, error.why());
  }
  return fault;
}

Speed parse_speed(const Json& json, const JsonLocation& location) {
  JsonMembers members(json, location);
  const auto number = [&](const char* name, double most) {
    return number_between(members.need(name), location.of(name), 1e-3, most);
  };
  const Speed speed{number("latency_ns", 1e12), number("bandwidth_bytes_per_s", 1e18)};
  members.refuse_others();
  return speed;
}

template <typename Parse>
auto parse_list(const Json& json, const JsonLocation& location, const Parse& parse) {
  if (!json.is_array()) refuse(location, "is not a list");
  std::vector<decltype(parse(json, location))> all;
  for (std::size_t i = 0; i < json.size(); ++i) all.push_back(parse(json.at(i), location.at(i)));
  return all;
}

Noise parse_noise(const Json& json, const JsonLocation& location) {
  if (json.is_string() && json.get<std::string>() == "none") return no_noise();
  JsonMembers members(json, location);
  Noise noise;
  const auto number = [&](const char* name, double least, double most, double& member) {
    members.optional(
        name, [=](const Json& value, const JsonLocation& at) { return number_between(value, at, least, most); },
        member);
  };
  number("host", 0, 1, noise.host);
  number("rank", 0, 1, noise.rank);
  number("pair", 0, 1, noise.pair);
  number("batch", 0, 1, noise.batch);
  number("spike_probability", 0, 1, noise.spike_probability);
  number("spike_scale", 1e-6, 1e6, noise.spike_scale);
  number("spike_exponent", 0.1, 100, noise.spike_exponent);
  number("spike_most", 1e-6, 1e6, noise.spike_most);
  number("disturbed_probability", 0, 1, noise.disturbed_probability);
  number("disturbed_scale", 1e-6, 1e6, noise.disturbed_scale);
  members.refuse_others();
  if (std::max(noise.spike_scale, noise.disturbed_scale) >= noise.spike_most)
    refuse(location, "a scale is not below spike_most, where spikes are cut off");
  return noise;
}

}  // namespace

void parse_faults(const std::string& text, const std::string& file, Machine& machine) {
  const JsonFile described{"faults file", file, "docs/formats/simulated-faults.md"};
  const Json json = parse_json(text, described);
  JsonMembers members(json, {described});
  std::string description;
  members.optional("description", text_of, description);
  members.optional("same_socket", parse_speed, machine.same_socket);
  members.optional("same_host", parse_speed, machine.same_host);
  members.optional(
      "between",
      [](const Json& value, const JsonLocation& location) {
        std::vector<Speed> speeds = parse_list(value, location, parse_speed);
        if (speeds.empty())
          refuse(location, "is empty: a speed for each distance of hosts, the last for all farther ones");
        return speeds;
      },
      machine.between);
  members.optional(
      "far_socket_ns",
      [](const Json& value, const JsonLocation& location) { return number_between(value, location, 0, 1e9); },
      machine.far_socket_ns);
  members.optional("noise", parse_noise, machine.noise);
  members.optional(
      "faults",
      [&](const Json& value, const JsonLocation& location) {
        return parse_list(value, location,
                          [&](const Json& each, const JsonLocation& at) { return parse_fault(machine, each, at); });
      },
      machine.faults);
  members.refuse_others();
}

void load_faults(const std::string& file, Machine& machine) {
  parse_faults(read_json_text({"faults file", file, ""}), file, machine);
}

}  // namespace leadline::synthetic
