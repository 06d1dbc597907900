// SPDX-License-Identifier: Apache-2.0
// Names of places and of what is wrong with them.
#include "synthetic/words.hpp"

#include <fmt/format.h>

namespace leadline::synthetic {
namespace {

std::uint32_t index(std::int32_t number) { return static_cast<std::uint32_t>(number); }

std::string place_words(const Machine& machine, const Place& place) {
  const auto host = [&](std::int32_t number) { return host_name(machine, index(number)); };
  const auto level = [&]() -> const network::Level& { return machine.network.levels[index(place.level)]; };
  const auto group = [&](std::int32_t number) { return level().names[index(number)]; };
  const auto rank = [&](std::int32_t number) {
    return fmt::format("rank {} ({})", number, host_name(machine, host_of(machine, index(number))));
  };
  switch (place.kind) {
    case PlaceKind::network_switch:
      return fmt::format("{} {}", level().kind, group(place.first));
    case PlaceKind::uplink:
      return fmt::format("the uplink of {} {}", level().kind, group(place.first));
    case PlaceKind::cable:
      return fmt::format("the cable {} - {}", group(place.first), group(place.second));
    case PlaceKind::rail:
      return fmt::format("slot {} of all hosts", place.first);
    case PlaceKind::host:
      return "host " + host(place.first);
    case PlaceKind::port:
      return "the port of " + host(place.first);
    case PlaceKind::inside:
      return "the inside of " + host(place.first);
    case PlaceKind::socket:
      return fmt::format("socket {} of {}", place.socket, host(place.first));
    case PlaceKind::rank:
      return rank(place.first);
    case PlaceKind::link:
      return fmt::format("the link {} - {}", host(place.first), host(place.second));
    case PlaceKind::pair:
      return fmt::format("the pair {} - {}", rank(place.first), rank(place.second));
  }
  return "";
}

std::string way_words(const PlantedFault& fault) {
  if (fault.way == Way::both) return "";
  const PlaceKind kind = fault.place.kind;
  const bool has_ends = kind == PlaceKind::cable || kind == PlaceKind::link || kind == PlaceKind::pair;
  if (has_ends) return fault.way == Way::out ? ", there only" : ", back only";
  return fault.way == Way::out ? ", sending only" : ", receiving only";
}

}  // namespace

std::string name_of_place(const Machine& machine, const PlantedFault& fault) {
  return place_words(machine, fault.place) + way_words(fault);
}

std::string words_of(const Machine& machine, const PlantedFault& fault) {
  std::string text = name_of_place(machine, fault) + ":";
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
