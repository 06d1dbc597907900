// SPDX-License-Identifier: Apache-2.0
// The times of a make-believe fabric, as pure functions.
#include "transport/model/fabric.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace leadline::transport::model
