// SPDX-License-Identifier: Apache-2.0
// Reads a faults file: names become numbers, and what the machine does not have is refused.
#include "synthetic/fault_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json_members.hpp"

namespace leadline::synthetic {
namespace {

struct KeyOfPlace {
  const char* key;
  PlaceKind kind;
};

constexpr std::array keys{
    KeyOfPlace{"slow_host", PlaceKind::host},     KeyOfPlace{"slow_port", PlaceKind::port},
    KeyOfPlace{"slow_inside", PlaceKind::inside}, KeyOfPlace{"slow_rank", PlaceKind::rank},
    KeyOfPlace{"slow_socket", PlaceKind::socket}, KeyOfPlace{"slow_link", PlaceKind::link},
    KeyOfPlace{"slow_pair", PlaceKind::pair},     KeyOfPlace{"slow_switch", PlaceKind::network_switch},
    KeyOfPlace{"slow_uplink", PlaceKind::uplink}, KeyOfPlace{"slow_cable", PlaceKind::cable},
    KeyOfPlace{"slow_rail", PlaceKind::rail},
};

std::string known_keys() {
  std::string names;
  for (const KeyOfPlace& each : keys) names += (names.empty() ? "" : ", ") + std::string(each.key);
  return names;
}

bool is_of_switches(PlaceKind kind) {
  return kind == PlaceKind::network_switch || kind == PlaceKind::uplink || kind == PlaceKind::cable;
}

bool has_two_ends(PlaceKind kind) {
  return kind == PlaceKind::link || kind == PlaceKind::pair || kind == PlaceKind::cable;
}

/// Names and numbers of one fault.
class PlaceReader {
 public:
  PlaceReader(const Machine& machine, JsonMembers& members) : machine_(machine), members_(members) {}

  Place read(PlaceKind kind, const Json& value, const JsonPlace& where) {
    place_.kind = kind;
    if (is_of_switches(kind)) read_level();
    const bool is_pair = has_two_ends(kind) || kind == PlaceKind::socket;
    if (!is_pair) {
      place_.first = end(value, where);
      return place_;
    }
    if (!value.is_array() || value.size() != 2)
      refuse(where, kind == PlaceKind::socket ? "is not [host, socket]" : "is not [one end, the other]");
    place_.first = end(value.at(0), where.at(0));
    (kind == PlaceKind::socket ? place_.socket : place_.second) =
        kind == PlaceKind::socket ? json_index(value.at(1), where.at(1)) : end(value.at(1), where.at(1));
    return place_;
  }

 private:
  void read_level() {
    const auto& levels = machine_.network.levels;
    if (levels.empty()) refuse(members_.place(), "the topology has no switches");
    if (const Json* level = members_.find("level")) {
      place_.level = json_index(*level, members_.place().of("level"));
      if (static_cast<std::size_t>(place_.level) >= levels.size())
        refuse(members_.place().of("level"),
               fmt::format("there is no level {}, there are {}", place_.level, levels.size()));
    }
  }

  std::int32_t end(const Json& value, const JsonPlace& where) {
    switch (place_.kind) {
      case PlaceKind::network_switch:
      case PlaceKind::uplink:
      case PlaceKind::cable:
        return group(value, where);
      case PlaceKind::rank:
      case PlaceKind::pair:
      case PlaceKind::rail:
        return json_index(value, where);
      case PlaceKind::host:
      case PlaceKind::port:
      case PlaceKind::inside:
      case PlaceKind::socket:
      case PlaceKind::link:
        break;
    }
    return host(value, where);
  }

  std::int32_t host(const Json& value, const JsonPlace& where) const {
    if (!value.is_string()) return json_index(value, where);
    const auto name = value.get<std::string>();
    for (std::uint32_t host = 0; host < num_hosts(machine_); ++host)
      if (host_name(machine_, host) == name) return static_cast<std::int32_t>(host);
    refuse(where, fmt::format("there is no host {} in this machine", name));
  }

  /// By name in the level that is given, or that another end has said, or else in any that has it.
  std::int32_t group(const Json& value, const JsonPlace& where) {
    if (!value.is_string()) {
      if (place_.level < 0) place_.level = 0;
      return json_index(value, where);
    }
    const auto name = value.get<std::string>();
    std::vector<std::pair<std::int32_t, std::int32_t>> found;
    for (std::int32_t level = 0; std::cmp_less(level, machine_.network.levels.size()); ++level) {
      const auto& names = machine_.network.levels[static_cast<std::size_t>(level)].names;
      const auto it = std::ranges::find(names, name);
      if (it != names.end() && (place_.level < 0 || place_.level == level))
        found.emplace_back(level, static_cast<std::int32_t>(it - names.begin()));
    }
    if (found.empty()) refuse(where, fmt::format("there is no switch {} in this machine{}", name, of_level()));
    if (found.size() > 1) refuse(where, fmt::format("{} is in several levels: say which by \"level\"", name));
    place_.level = found[0].first;
    return found[0].second;
  }

  std::string of_level() const { return place_.level < 0 ? "" : fmt::format(", level {}", place_.level); }

  const Machine& machine_;
  JsonMembers& members_;
  Place place_;
};

Way parse_way(PlaceKind kind, const Json& value, const JsonPlace& where) {
  const std::string word = text_of(value, where);
  const std::pair<const char*, const char*> words =
      has_two_ends(kind) ? std::pair{"there", "back"} : std::pair{"sending", "receiving"};
  if (kind == PlaceKind::inside) refuse(where, "has no effect: what is inside a host has no direction");
  if (word == "both") return Way::both;
  if (word == words.first) return Way::out;
  if (word == words.second) return Way::in;
  refuse(where, fmt::format("is not both, {} or {}", words.first, words.second));
}

void parse_effect(JsonMembers& members, PlantedFault& fault) {
  const auto number = [&](const char* name, double least, double most, double& member) {
    return members.optional(
        name, [=](const Json& value, const JsonPlace& place) { return number_between(value, place, least, most); },
        member);
  };
  const bool has_factor = number("factor", 1, 1e6, fault.factor), has_more = number("add_ns", 0, 1e12, fault.add_ns);
  const bool has_loss = number("loss", 0, 1, fault.loss), has_retry = number("retry_ns", 1, 1e12, fault.retry_ns);
  if (!has_factor && !has_more && !has_loss) refuse(members.place(), "has no effect: factor, add_ns or loss");
  if (has_retry && !has_loss) refuse(members.place().of("retry_ns"), "has no effect without loss");
  bool only_under_load = false, is_transient = false;
  members.optional("only_under_load", truth_of, only_under_load);
  members.optional("transient", truth_of, is_transient);
  if (only_under_load && is_transient) refuse(members.place(), "is both transient and only_under_load");
  if (only_under_load) fault.lasts = Persistence::only_under_load;
  if (is_transient) fault.lasts = Persistence::transient;
}

PlantedFault parse_fault(const Machine& machine, const Json& json, const JsonPlace& place) {
  JsonMembers members(json, place);
  PlantedFault fault;
  bool is_known = false;
  for (const KeyOfPlace& each : keys) {
    const Json* value = is_known ? nullptr : members.find(each.key);
    if (value == nullptr) continue;
    fault.place = PlaceReader(machine, members).read(each.kind, *value, place.of(each.key));
    is_known = true;
  }
  if (!is_known) refuse(place, "names no known fault: " + known_keys());
  const PlaceKind kind = fault.place.kind;
  members.optional(
      "direction", [&](const Json& value, const JsonPlace& where) { return parse_way(kind, value, where); }, fault.way);
  parse_effect(members, fault);
  members.refuse_others();
  try {
    check(machine, fault, place.key);
  } catch (const Error& error) {
    refuse(place, error.why());
  }
  return fault;
}

Speed parse_speed(const Json& json, const JsonPlace& place) {
  JsonMembers members(json, place);
  const auto number = [&](const char* name, double most) {
    return number_between(members.need(name), place.of(name), 1e-3, most);
  };
  const Speed speed{number("latency_ns", 1e12), number("bandwidth_bytes_per_s", 1e18)};
  members.refuse_others();
  return speed;
}

template <typename Parse>
auto parse_list(const Json& json, const JsonPlace& place, const Parse& parse) {
  if (!json.is_array()) refuse(place, "is not a list");
  std::vector<decltype(parse(json, place))> all;
  for (std::size_t i = 0; i < json.size(); ++i) all.push_back(parse(json.at(i), place.at(i)));
  return all;
}

Noise parse_noise(const Json& json, const JsonPlace& place) {
  if (json.is_string() && json.get<std::string>() == "none") return no_noise();
  JsonMembers members(json, place);
  Noise noise;
  const auto number = [&](const char* name, double least, double most, double& member) {
    members.optional(
        name, [=](const Json& value, const JsonPlace& at) { return number_between(value, at, least, most); }, member);
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
    refuse(place, "a scale is not below spike_most, where spikes are cut off");
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
      [](const Json& value, const JsonPlace& place) {
        std::vector<Speed> speeds = parse_list(value, place, parse_speed);
        if (speeds.empty())
          refuse(place, "is empty: a speed for each distance of hosts, the last for all farther ones");
        return speeds;
      },
      machine.between);
  members.optional(
      "far_socket_ns", [](const Json& value, const JsonPlace& place) { return number_between(value, place, 0, 1e9); },
      machine.far_socket_ns);
  members.optional("noise", parse_noise, machine.noise);
  members.optional(
      "faults",
      [&](const Json& value, const JsonPlace& place) {
        return parse_list(value, place,
                          [&](const Json& each, const JsonPlace& at) { return parse_fault(machine, each, at); });
      },
      machine.faults);
  members.refuse_others();
}

void load_faults(const std::string& file, Machine& machine) {
  parse_faults(read_json_text({"faults file", file, ""}), file, machine);
}

}  // namespace leadline::synthetic
