// SPDX-License-Identifier: Apache-2.0
// Names of places and of what is wrong with them.
#include "synthetic/planted_fault_text.hpp"

#include <fmt/format.h>

namespace leadline::synthetic {
namespace {

std::uint32_t index(std::int32_t number) { return static_cast<std::uint32_t>(number); }

std::string component_text(const Machine& machine, const Component& component) {
  const auto host = [&](std::int32_t number) { return host_name(machine, index(number)); };
  const auto level = [&]() -> const network::Level& { return machine.network.levels[index(component.level)]; };
  const auto group = [&](std::int32_t number) { return level().names[index(number)]; };
  const auto rank = [&](std::int32_t number) {
    return fmt::format("rank {} ({})", number, host_name(machine, host_of(machine, index(number))));
  };
  switch (component.kind) {
    case ComponentKind::network_switch:
      return fmt::format("{} {}", level().kind, group(component.first));
    case ComponentKind::uplink:
      return fmt::format("the uplink of {} {}", level().kind, group(component.first));
    case ComponentKind::cable:
      return fmt::format("the cable {} - {}", group(component.first), group(component.second));
    case ComponentKind::rail:
      return fmt::format("slot {} of all hosts", component.first);
    case ComponentKind::host:
      return "host " + host(component.first);
    case ComponentKind::port:
      return "the port of " + host(component.first);
    case ComponentKind::inside:
      return "the inside of " + host(component.first);
    case ComponentKind::socket:
      return fmt::format("socket {} of {}", component.socket, host(component.first));
    case ComponentKind::rank:
      return rank(component.first);
    case ComponentKind::link:
      return fmt::format("the link {} - {}", host(component.first), host(component.second));
    case ComponentKind::pair:
      return fmt::format("the pair {} - {}", rank(component.first), rank(component.second));
  }
  return "";
}

std::string direction_text(const PlantedFault& fault) {
  if (fault.direction == FaultDirection::both) return "";
  const ComponentKind kind = fault.component.kind;
  const bool has_ends = kind == ComponentKind::cable || kind == ComponentKind::link || kind == ComponentKind::pair;
  if (has_ends) return fault.direction == FaultDirection::out ? ", there only" : ", back only";
  return fault.direction == FaultDirection::out ? ", sending only" : ", receiving only";
}

}  // namespace

std::string name_of_component(const Machine& machine, const PlantedFault& fault) {
  return component_text(machine, fault.component) + direction_text(fault);
}

std::string words_of(const Machine& machine, const PlantedFault& fault) {
  std::string text = name_of_component(machine, fault) + ":";
  if (fault.factor > 1) text += fmt::format(" takes {:.4g} times as long,", fault.factor);
  if (fault.add_ns > 0) text += fmt::format(" takes {:.4g} ns more,", fault.add_ns);
  if (fault.loss > 0) text += fmt::format(" loses {:.4g} % of messages,", 100 * fault.loss);
  if (text.back() == ':') text += " as all others,";
  text.pop_back();
  if (fault.lasts == Persistence::only_under_load) text += ", under load only";
  if (fault.lasts == Persistence::transient) text += ", not when it is measured again";
  return text;
}

}  // namespace leadline::synthetic
