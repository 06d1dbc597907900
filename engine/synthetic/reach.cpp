// SPDX-License-Identifier: Apache-2.0
// Says of each kind of place who belongs to it and which messages are concerned.
#include "synthetic/reach.hpp"

namespace leadline::synthetic {
namespace {

enum class Rule : std::uint8_t {
  touching,  ///< out of the place or into it
  within,    ///< both ends in it
  leaving,   ///< one end in it, the other not
  joining,   ///< one end at its first, the other at its second end
};

Rule rule_of(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::inside:
      return Rule::within;
    case PlaceKind::uplink:
      return Rule::leaving;
    case PlaceKind::cable:
    case PlaceKind::link:
    case PlaceKind::pair:
      return Rule::joining;
    case PlaceKind::network_switch:
    case PlaceKind::rail:
    case PlaceKind::host:
    case PlaceKind::port:
    case PlaceKind::socket:
    case PlaceKind::rank:
      break;
  }
  return Rule::touching;
}

/// What goes out of the place, or from its first to its second end.
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

/// A host is a place with an inside of its own; switches, ports and rails are not met there.
bool is_only_between_hosts(PlaceKind kind) {
  return kind == PlaceKind::network_switch || kind == PlaceKind::rail || kind == PlaceKind::port ||
         kind == PlaceKind::socket;
}

bool is(std::int32_t number, std::uint32_t index) { return number >= 0 && static_cast<std::uint32_t>(number) == index; }

}  // namespace

Reach::Reach(const Machine& machine, const PlantedFault& fault)
    : part_of_(machine.num_ranks), only_between_hosts_(is_only_between_hosts(fault.place.kind)) {
  fill_parts(machine, fault.place);
  const Rule rule = rule_of(fault.place.kind);
  for (unsigned from = 0; from < num_parts; ++from) {
    for (unsigned to = 0; to < num_parts; ++to) {
      const bool is_out = fault.way != Way::in && is_outgoing(rule, from, to);
      const bool is_in = fault.way != Way::out && is_outgoing(rule, to, from);
      if (is_out || is_in) met_ = static_cast<std::uint16_t>(met_ | (1U << (num_parts * from + to)));
    }
  }
}

void Reach::fill_parts(const Machine& machine, const Place& place) {
  const auto part = [&](std::uint32_t number) -> std::uint8_t {
    if (is(place.first, number)) return 1;
    return rule_of(place.kind) == Rule::joining && is(place.second, number) ? 2 : 0;
  };
  for (std::uint32_t rank = 0; rank < machine.num_ranks; ++rank) {
    const std::uint32_t host = host_of(machine, rank);
    switch (place.kind) {
      case PlaceKind::network_switch:
      case PlaceKind::uplink:
      case PlaceKind::cable:
        part_of_[rank] = part(machine.network.levels[static_cast<std::size_t>(place.level)].group_of[host]);
        break;
      case PlaceKind::rail:
        part_of_[rank] = part(slot_of(machine, rank));
        break;
      case PlaceKind::host:
      case PlaceKind::port:
      case PlaceKind::inside:
      case PlaceKind::link:
        part_of_[rank] = part(host);
        break;
      case PlaceKind::socket:
        part_of_[rank] = is(place.socket, socket_of(machine, rank)) ? part(host) : 0;
        break;
      case PlaceKind::rank:
      case PlaceKind::pair:
        part_of_[rank] = part(rank);
        break;
    }
  }
}

}  // namespace leadline::synthetic
