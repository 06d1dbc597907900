// SPDX-License-Identifier: Apache-2.0
// Reads the file of a simulated fabric, and computes its times as pure functions.
#include "transport/model/fabric.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/random.hpp"

namespace leadline::transport::model {
namespace {

/// A message's way through the fabric.
struct FabricPath {
  int from, to;
  int from_host, to_host;
  int from_switch, to_switch;

  bool touches_host(int host) const { return from_host == host || to_host == host; }
  bool crosses_uplink_of(int index) const {
    return from_switch != to_switch && (from_switch == index || to_switch == index);
  }
};

int switch_of(const Fabric& fabric, int host) {
  return fabric.hosts_per_switch > 0 ? host / fabric.hosts_per_switch : 0;
}

FabricPath path_of(const Fabric& fabric, int from, int to) {
  const int from_host = host_of(fabric, from), to_host = host_of(fabric, to);
  return {from, to, from_host, to_host, switch_of(fabric, from_host), switch_of(fabric, to_host)};
}

const Speed& speed_of(const Fabric& fabric, const FabricPath& path) {
  if (path.from_host == path.to_host) return fabric.same_host;
  return path.from_switch == path.to_switch ? fabric.between_hosts : fabric.between_switches;
}

struct Slowdown {
  const FabricPath& path;

  double operator()(const SlowHost& fault) const { return path.touches_host(fault.host) ? fault.factor : 1; }
  double operator()(const SlowRank& fault) const {
    return path.from == fault.rank || path.to == fault.rank ? fault.factor : 1;
  }
  double operator()(const SlowLink& fault) const {
    return path.from_host == fault.from_host && path.to_host == fault.to_host ? fault.factor : 1;
  }
  double operator()(const SlowUplink& fault) const {
    return path.crosses_uplink_of(fault.uplink_of_switch) ? fault.factor : 1;
  }
  double operator()(const Corrupt&) const { return 1; }
  double operator()(const Silent&) const { return 1; }
};

/// In [0, 1), decided by its arguments alone.
double chance(std::uint64_t seed, int from, int to, std::uint64_t number) {
  std::uint64_t x = mix64(seed + splitmix64_increment);
  for (const std::uint64_t part : {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), number}) {
    x = mix64(x + part + splitmix64_increment);
  }
  return static_cast<double>(x >> 11) * 0x1p-53;
}

JsonFile fabric_file(const std::string& name) { return {"fabric file", name, "docs/formats/model-fabric.md"}; }

int at_least_one(const Json& json, const JsonLocation& location) {
  const int value = json_index(json, location);
  if (value == 0) refuse(location, "is 0");
  return value;
}

Speed parse_speed(const Json& json, const JsonLocation& location) {
  JsonMembers members(json, location);
  const auto number = [&](const char* name) { return positive(members.need(name), location.of(name)); };
  const Speed speed{number("latency_ns"), number("bandwidth_bytes_per_s")};
  members.refuse_others();
  return speed;
}

Corrupt parse_corrupt(const Json& json, const JsonLocation& location) {
  JsonMembers members(json, location);
  const Corrupt fault{
      json_index(members.need("from"), location.of("from")), json_index(members.need("to"), location.of("to")),
      whole(members.need("message"), location.of("message")), whole(members.need("byte"), location.of("byte"))};
  members.refuse_others();
  return fault;
}

Silent parse_silent(const Json& json, const JsonLocation& location) {
  JsonMembers members(json, location);
  const Silent fault{json_index(members.need("rank"), location.of("rank")),
                     whole(members.need("after_messages"), location.of("after_messages"))};
  members.refuse_others();
  return fault;
}

Fault parse_fault(const Json& json, const JsonLocation& location) {
  JsonMembers members(json, location);
  const auto alone = [&](Fault fault) {
    members.refuse_others();
    return fault;
  };
  const auto factor = [&] { return positive(members.need("factor"), location.of("factor")); };
  if (const Json* value = members.find("corrupt")) return alone(parse_corrupt(*value, location.of("corrupt")));
  if (const Json* value = members.find("silent")) return alone(parse_silent(*value, location.of("silent")));
  if (const Json* value = members.find("slow_host"))
    return alone(SlowHost{json_index(*value, location.of("slow_host")), factor()});
  if (const Json* value = members.find("slow_rank"))
    return alone(SlowRank{json_index(*value, location.of("slow_rank")), factor()});
  if (const Json* value = members.find("slow_uplink")) {
    return alone(SlowUplink{json_index(*value, location.of("slow_uplink")), factor()});
  }
  if (const Json* value = members.find("slow_link")) {
    const JsonLocation here = location.of("slow_link");
    if (!value->is_array() || value->size() != 2) refuse(here, "is not [from_host, to_host]");
    return alone(SlowLink{json_index(value->at(0), here.at(0)), json_index(value->at(1), here.at(1)), factor()});
  }
  refuse(location, "names no known fault: corrupt, silent, slow_host, slow_link, slow_rank or slow_uplink");
}

/// How many of each thing there are with so many ranks.
struct Extent {
  int num_ranks, num_hosts, num_switches;
};

/// Refuses a fault that could have no effect.
struct Existing {
  const JsonLocation& location;
  Extent extent;

  void check(const char* what, int index, int num) const {
    if (index >= num) {
      refuse(location, std::string("there is no ") + what + " " + std::to_string(index) + " with " +
                           std::to_string(extent.num_ranks) + " ranks, which make " + std::to_string(num) + " of them");
    }
  }
  void operator()(const SlowHost& fault) const { check("host", fault.host, extent.num_hosts); }
  void operator()(const SlowRank& fault) const { check("rank", fault.rank, extent.num_ranks); }
  void operator()(const SlowLink& fault) const {
    check("host", std::max(fault.from_host, fault.to_host), extent.num_hosts);
  }
  void operator()(const SlowUplink& fault) const { check("switch", fault.uplink_of_switch, extent.num_switches); }
  void operator()(const Corrupt& fault) const { check("rank", std::max(fault.from, fault.to), extent.num_ranks); }
  void operator()(const Silent& fault) const { check("rank", fault.rank, extent.num_ranks); }
};

Extent extent_of(const Fabric& fabric, int num_ranks) {
  const int num_hosts = host_of(fabric, num_ranks - 1) + 1;
  const int per_switch = fabric.hosts_per_switch > 0 ? fabric.hosts_per_switch : num_hosts;
  return {num_ranks, num_hosts, (num_hosts - 1) / per_switch + 1};
}

}  // namespace

int host_of(const Fabric& fabric, int rank) { return rank / fabric.ranks_per_host; }

Travel travel(const Fabric& fabric, int from, int to, std::uint64_t size, std::uint64_t number) {
  const FabricPath path = path_of(fabric, from, to);
  const Speed& speed = speed_of(fabric, path);
  double stretch = 1 + fabric.jitter * chance(fabric.seed, from, to, number);
  for (const Fault& fault : fabric.faults) stretch *= std::visit(Slowdown{path}, fault);
  const double sending_ns = static_cast<double>(size) / speed.bandwidth_bytes_per_s * 1e9;
  return {static_cast<std::uint64_t>(std::llround(sending_ns * stretch)),
          static_cast<std::uint64_t>(std::llround(std::max(speed.latency_ns * stretch, 1.0)))};
}

std::optional<std::uint64_t> corrupted_byte(const Fabric& fabric, int from, int to, std::uint64_t message) {
  for (const Fault& fault : fabric.faults) {
    const auto* corrupt = std::get_if<Corrupt>(&fault);
    if (corrupt != nullptr && corrupt->from == from && corrupt->to == to && corrupt->message == message) {
      return corrupt->byte;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> silent_after(const Fabric& fabric, int rank) {
  for (const Fault& fault : fabric.faults) {
    const auto* silent = std::get_if<Silent>(&fault);
    if (silent != nullptr && silent->rank == rank) return silent->after_messages;
  }
  return std::nullopt;
}

Fabric parse_fabric(const std::string& text, const std::string& file) {
  const JsonFile described = fabric_file(file);
  const JsonLocation top{described};
  const Json json = parse_json(text, described);
  JsonMembers members(json, top);
  Fabric fabric;
  fabric.same_host = parse_speed(members.need("same_host"), top.of("same_host"));
  fabric.between_hosts = parse_speed(members.need("between_hosts"), top.of("between_hosts"));
  const Json* far = members.find("between_switches");
  fabric.between_switches = far != nullptr ? parse_speed(*far, top.of("between_switches")) : fabric.between_hosts;

  const auto share = [](const Json& value, const JsonLocation& location) {
    return number_between(value, location, 0, 10);
  };
  members.optional("description", text_of, fabric.description);
  members.optional("host_name", text_of, fabric.host_name);
  members.optional(
      "seed", [](const Json& value, const JsonLocation& location) { return whole(value, location); }, fabric.seed);
  members.optional("jitter", share, fabric.jitter);
  members.optional("ranks_per_host", at_least_one, fabric.ranks_per_host);
  members.optional("hosts_per_switch", at_least_one, fabric.hosts_per_switch);
  if (far != nullptr && fabric.hosts_per_switch == 0) refuse(top.of("between_switches"), "needs hosts_per_switch");
  if (const Json* faults = members.find("faults")) {
    const JsonLocation here = top.of("faults");
    if (!faults->is_array()) refuse(here, "is not a list");
    for (std::size_t i = 0; i < faults->size(); ++i) fabric.faults.push_back(parse_fault(faults->at(i), here.at(i)));
  }
  members.refuse_others();
  return fabric;
}

Fabric load_fabric(const std::string& file, int num_ranks) {
  if (file.empty()) {
    throw Error(ExitStatus::bad_command_line, "the transport model needs a fabric file",
                "nothing stands behind its name", "Try: --transport model:FILE");
  }
  const JsonFile described = fabric_file(file);
  Fabric fabric = parse_fabric(read_json_text(described), file);
  const JsonLocation faults{described, "faults"};
  for (std::size_t i = 0; i < fabric.faults.size(); ++i) {
    const JsonLocation here = faults.at(i);
    std::visit(Existing{here, extent_of(fabric, num_ranks)}, fabric.faults[i]);
  }
  return fabric;
}

}  // namespace leadline::transport::model
