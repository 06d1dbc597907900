// SPDX-License-Identifier: Apache-2.0
// Reads a faults file: resolves names to numbers, and refuses what the machine does not have.
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
