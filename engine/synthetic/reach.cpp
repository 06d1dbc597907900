// SPDX-License-Identifier: Apache-2.0
// For each kind of component: its ranks, and the messages that a fault of it affects.
#include "synthetic/reach.hpp"

namespace leadline::synthetic {
namespace {

enum class Rule : std::uint8_t {
  touching,  ///< out of the component or into it
  within,    ///< both ends in it
  leaving,   ///< one end in it, the other not
  joining,   ///< one end at its first, the other at its second end
};

Rule rule_of(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::inside:
      return Rule::within;
    case ComponentKind::uplink:
      return Rule::leaving;
    case ComponentKind::cable:
    case ComponentKind::link:
    case ComponentKind::pair:
      return Rule::joining;
    case ComponentKind::network_switch:
    case ComponentKind::rail:
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::socket:
    case ComponentKind::rank:
    case ComponentKind::target:
      break;
  }
  return Rule::touching;
}

/// What goes out of the component, or from its first to its second end.
bool is_outgoing(Rule rule, unsigned from, unsigned to) {
  switch (rule) {
    case Rule::touching:
      return from == 1;
    case Rule::within:
      return from == 1 && to == 1;
    case Rule::leaving:
      return from == 1 && to == 0;
    case Rule::joining:
      return from == 1 && to == 2;
  }
  return false;
}

/// Messages inside a host do not meet switches, ports and rails.
bool is_only_between_hosts(ComponentKind kind) {
  return kind == ComponentKind::network_switch || kind == ComponentKind::rail || kind == ComponentKind::port ||
         kind == ComponentKind::socket;
}

bool is(std::int32_t number, std::uint32_t index) { return number >= 0 && static_cast<std::uint32_t>(number) == index; }

}  // namespace

Reach::Reach(const Machine& machine, const PlantedFault& fault)
    : part_of_(machine.num_ranks), only_between_hosts_(is_only_between_hosts(fault.component.kind)) {
  fill_parts(machine, fault.component);
  const Rule rule = rule_of(fault.component.kind);
  for (unsigned from = 0; from < num_parts; ++from) {
    for (unsigned to = 0; to < num_parts; ++to) {
      const bool is_out = fault.direction != FaultDirection::in && is_outgoing(rule, from, to);
      const bool is_in = fault.direction != FaultDirection::out && is_outgoing(rule, to, from);
      if (is_out || is_in) met_ = static_cast<std::uint16_t>(met_ | (1U << (num_parts * from + to)));
    }
  }
}

void Reach::fill_parts(const Machine& machine, const Component& component) {
  const auto part = [&](std::uint32_t number) -> std::uint8_t {
    if (is(component.first, number)) return 1;
    return rule_of(component.kind) == Rule::joining && is(component.second, number) ? 2 : 0;
  };
  for (std::uint32_t rank = 0; rank < machine.num_ranks; ++rank) {
    const std::uint32_t host = host_of(machine, rank);
    switch (component.kind) {
      case ComponentKind::network_switch:
      case ComponentKind::uplink:
      case ComponentKind::cable:
        part_of_[rank] = part(machine.network.levels[static_cast<std::size_t>(component.level)].group_of[host]);
        break;
      case ComponentKind::rail:
        part_of_[rank] = part(slot_of(machine, rank));
        break;
      case ComponentKind::host:
      case ComponentKind::port:
      case ComponentKind::inside:
      case ComponentKind::link:
        part_of_[rank] = part(host);
        break;
      case ComponentKind::socket:
        part_of_[rank] = is(component.socket, socket_of(machine, rank)) ? part(host) : 0;
        break;
      case ComponentKind::rank:
      case ComponentKind::pair:
        part_of_[rank] = part(rank);
        break;
      case ComponentKind::target:  // machines here have no storage
        break;
    }
  }
}

}  // namespace leadline::synthetic
