// SPDX-License-Identifier: Apache-2.0
// Chooses components at random until no two overlap.
#include "synthetic/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
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

}  // namespace leadline::synthetic
