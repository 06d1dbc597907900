// SPDX-License-Identifier: Apache-2.0
// Reads a fabric file, and says file, key and reason where something in it is wrong.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <limits>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "transport/model/fabric.hpp"

namespace leadline::transport::model {
namespace {

using Json = nlohmann::json;

/// A place in the file, for messages: "faults[2].slow_host".
struct Place {
  const std::string& file;
  std::string key;

  Place of(const std::string& member) const { return {file, key.empty() ? member : key + "." + member}; }
  Place at(std::size_t index) const { return {file, key + "[" + std::to_string(index) + "]"}; }
};

[[noreturn]] void refuse(const Place& place, const std::string& reason) {
  throw Error(ExitStatus::bad_command_line, "the fabric file " + place.file + " is wrong",
              place.key.empty() ? reason : place.key + ": " + reason,
              "docs/formats/model-fabric.md describes the format");
}

/// An object whose members are taken one by one; what is left at the end was not known.
class Members {
 public:
  Members(const Json& json, Place place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) refuse(place_, "is not an object");
  }

  const Place& place() const { return place_; }

  const Json* find(const char* name) {
    taken_.insert(name);
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

  const Json& need(const char* name) {
    const Json* found = find(name);
    if (found == nullptr) refuse(place_.of(name), "is missing");
    return *found;
  }

  void refuse_others() const {
    for (const auto& [name, value] : json_.items()) {
      if (taken_.count(name) == 0) refuse(place_.of(name), "is not a known key here");
    }
  }

 private:
  const Json& json_;
  Place place_;
  std::set<std::string> taken_;
};

double positive(const Json& json, const Place& place) {
  if (!json.is_number() || !(json.get<double>() > 0) || json.get<double>() > 1e18)
    refuse(place, "is not a positive number");
  return json.get<double>();
}

std::uint64_t whole(const Json& json, const Place& place,
                    std::uint64_t max = std::numeric_limits<std::uint64_t>::max()) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > max) {
    refuse(place, "is not a whole number" + (max < UINT64_MAX ? " of at most " + std::to_string(max) : ""));
  }
  return json.get<std::uint64_t>();
}

int index(const Json& json, const Place& place) {
  return static_cast<int>(whole(json, place, std::numeric_limits<int>::max()));
}

int at_least_one(const Json& json, const Place& place) {
  const int value = index(json, place);
  if (value == 0) refuse(place, "is 0");
  return value;
}

std::string text_of(const Json& json, const Place& place) {
  if (!json.is_string()) refuse(place, "is not a text");
  return json.get<std::string>();
}

Speed parse_speed(const Json& json, const Place& place) {
  Members members(json, place);
  const auto number = [&](const char* name) { return positive(members.need(name), place.of(name)); };
  const Speed speed{number("latency_ns"), number("bandwidth_bytes_per_s")};
  members.refuse_others();
  return speed;
}

Corrupt parse_corrupt(const Json& json, const Place& place) {
  Members members(json, place);
  const Corrupt fault{index(members.need("from"), place.of("from")), index(members.need("to"), place.of("to")),
                      whole(members.need("message"), place.of("message")),
                      whole(members.need("byte"), place.of("byte"))};
  members.refuse_others();
  return fault;
}

Silent parse_silent(const Json& json, const Place& place) {
  Members members(json, place);
  const Silent fault{index(members.need("rank"), place.of("rank")),
                     whole(members.need("after_messages"), place.of("after_messages"))};
  members.refuse_others();
  return fault;
}

Fault parse_fault(const Json& json, const Place& place) {
  Members members(json, place);
  const auto alone = [&](Fault fault) {
    members.refuse_others();
    return fault;
  };
  const auto factor = [&] { return positive(members.need("factor"), place.of("factor")); };
  if (const Json* value = members.find("corrupt")) return alone(parse_corrupt(*value, place.of("corrupt")));
  if (const Json* value = members.find("silent")) return alone(parse_silent(*value, place.of("silent")));
  if (const Json* value = members.find("slow_host"))
    return alone(SlowHost{index(*value, place.of("slow_host")), factor()});
  if (const Json* value = members.find("slow_rank"))
    return alone(SlowRank{index(*value, place.of("slow_rank")), factor()});
  if (const Json* value = members.find("slow_uplink")) {
    return alone(SlowUplink{index(*value, place.of("slow_uplink")), factor()});
  }
  if (const Json* value = members.find("slow_link")) {
    const Place here = place.of("slow_link");
    if (!value->is_array() || value->size() != 2) refuse(here, "is not [from_host, to_host]");
    return alone(SlowLink{index((*value)[0], here.at(0)), index((*value)[1], here.at(1)), factor()});
  }
  refuse(place, "names no known fault: corrupt, silent, slow_host, slow_link, slow_rank or slow_uplink");
}

/// How many of each thing there are with so many ranks.
struct Extent {
  int num_ranks, num_hosts, num_switches;
};

/// Refuses a fault that could have no effect.
struct Existing {
  const Place& place;
  Extent extent;

  void check(const char* what, int index, int num) const {
    if (index >= num) {
      refuse(place, std::string("there is no ") + what + " " + std::to_string(index) + " with " +
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

Fabric parse_fabric(const std::string& text, const std::string& file) {
  const Place top{file, ""};
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    refuse(top, "not JSON, byte " + std::to_string(error.byte));
  }
  Members members(json, top);
  Fabric fabric;
  fabric.same_host = parse_speed(members.need("same_host"), top.of("same_host"));
  fabric.between_hosts = parse_speed(members.need("between_hosts"), top.of("between_hosts"));
  const Json* far = members.find("between_switches");
  fabric.between_switches = far != nullptr ? parse_speed(*far, top.of("between_switches")) : fabric.between_hosts;

  const auto optional = [&](const char* name, const auto& parse, auto& member) {
    if (const Json* value = members.find(name)) member = parse(*value, top.of(name));
  };
  const auto share = [](const Json& value, const Place& place) {
    if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 10) refuse(place, "is not from 0 to 10");
    return value.get<double>();
  };
  optional("description", text_of, fabric.description);
  optional("host_name", text_of, fabric.host_name);
  optional(
      "seed", [](const Json& value, const Place& place) { return whole(value, place); }, fabric.seed);
  optional("jitter", share, fabric.jitter);
  optional("ranks_per_host", at_least_one, fabric.ranks_per_host);
  optional("hosts_per_switch", at_least_one, fabric.hosts_per_switch);
  if (far != nullptr && fabric.hosts_per_switch == 0) refuse(top.of("between_switches"), "needs hosts_per_switch");
  if (const Json* faults = members.find("faults")) {
    const Place here = top.of("faults");
    if (!faults->is_array()) refuse(here, "is not a list");
    for (std::size_t i = 0; i < faults->size(); ++i) fabric.faults.push_back(parse_fault((*faults)[i], here.at(i)));
  }
  members.refuse_others();
  return fabric;
}

Fabric load_fabric(const std::string& file, int num_ranks) {
  if (file.empty()) {
    throw Error(ExitStatus::bad_command_line, "the transport model needs a fabric file",
                "nothing stands behind its name", "Try: --transport model:FILE");
  }
  errno = 0;
  std::ifstream stream(file);
  std::string text;
  std::getline(stream, text, '\0');  // all of it; unlike the iterators it does not throw for a folder
  if (!stream.is_open() || stream.bad()) {
    throw Error(ExitStatus::bad_command_line, "cannot read the fabric file " + file, system_error_text(errno));
  }
  Fabric fabric = parse_fabric(text, file);
  const Place faults{file, "faults"};
  for (std::size_t i = 0; i < fabric.faults.size(); ++i) {
    const Place here = faults.at(i);
    std::visit(Existing{here, extent_of(fabric, num_ranks)}, fabric.faults[i]);
  }
  return fabric;
}

}  // namespace leadline::transport::model
