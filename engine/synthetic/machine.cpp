// SPDX-License-Identifier: Apache-2.0
// Positions of ranks, the checks of a machine, and faults as text.
#include "synthetic/machine.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"

namespace leadline::synthetic {
namespace {

[[noreturn]] void refuse_machine(const std::string& what, const std::string& why) {
  throw Error(ExitStatus::bad_command_line, what, why, "docs/formats/simulated-faults.md lists what is possible");
}

void expect(bool is_so, const std::string& what, const std::string& why) {
  if (!is_so) refuse_machine(what, why);
}

/// A component's number is one of `num` of its kind.
void expect_one_of(std::int32_t number, std::uint32_t num, const char* kind, const std::string& name) {
  expect(number >= 0 && static_cast<std::uint32_t>(number) < num, name,
         fmt::format("there is no {} {}, there are {}", kind, number, num));
}

void expect_group(const Machine& machine, const Component& component, std::int32_t group, const std::string& name) {
  const auto& levels = machine.network.levels;
  expect_one_of(component.level, static_cast<std::uint32_t>(levels.size()), "level", name);
  const network::Level& level = levels[static_cast<std::size_t>(component.level)];
  expect_one_of(group, static_cast<std::uint32_t>(level.names.size()), level.kind.c_str(), name);
}

void expect_two(const Component& component, const std::string& name) {
  expect(component.first != component.second, name, "both of its ends are the same");
}

void check_component(const Machine& machine, const Component& component, const std::string& name) {
  switch (component.kind) {
    case ComponentKind::cable:
      expect_group(machine, component, component.second, name);
      expect_two(component, name);
      [[fallthrough]];
    case ComponentKind::network_switch:
    case ComponentKind::uplink:
      return expect_group(machine, component, component.first, name);
    case ComponentKind::rail:
      return expect_one_of(component.first, machine.ranks_per_host, "slot", name);
    case ComponentKind::socket:
      expect_one_of(component.socket, machine.sockets_per_host, "socket", name);
      [[fallthrough]];
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::inside:
      return expect_one_of(component.first, num_hosts(machine), "host", name);
    case ComponentKind::link:
      expect_one_of(component.second, num_hosts(machine), "host", name);
      expect_two(component, name);
      return expect_one_of(component.first, num_hosts(machine), "host", name);
    case ComponentKind::pair:
      expect_one_of(component.second, machine.num_ranks, "rank", name);
      expect_two(component, name);
      [[fallthrough]];
    case ComponentKind::rank:
      return expect_one_of(component.first, machine.num_ranks, "rank", name);
    case ComponentKind::target:
      return expect(false, name, "a simulated machine has no storage");
  }
}

bool is_share(double value) { return value >= 0 && value <= 1; }

void check_noise(const Noise& noise) {
  const std::string name = "the noise of a simulated machine is wrong";
  for (const double share : {noise.host, noise.rank, noise.pair, noise.batch})
    expect(is_share(share), name, "a share is not from 0 to 1");
  expect(is_share(noise.spike_probability) && is_share(noise.disturbed_probability), name,
         "a probability is not from 0 to 1");
  expect(noise.spike_exponent > 0 && noise.spike_exponent <= 100, name, "the exponent is not above 0, up to 100");
  for (const double scale : {noise.spike_scale, noise.disturbed_scale})
    expect(scale > 0 && scale < noise.spike_most, name, "a scale is not between 0 and where spikes are cut off");
  expect(noise.spike_most <= 1e6, name, "spikes of more than 1e6 times the time");
}

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
    case ComponentKind::target:
      break;
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

std::vector<Speed> usual_between(std::size_t num_distances) {
  std::vector<Speed> speeds;
  for (std::size_t distance = 0; distance < num_distances; ++distance)
    speeds.push_back({1300 + 250 * static_cast<double>(distance), 12.5e9});
  return speeds;
}

std::uint32_t num_hosts(const Machine& machine) {
  return (machine.num_ranks + machine.ranks_per_host - 1) / machine.ranks_per_host;
}

std::uint32_t host_of(const Machine& machine, std::uint32_t rank) { return rank / machine.ranks_per_host; }

std::uint32_t slot_of(const Machine& machine, std::uint32_t rank) { return rank % machine.ranks_per_host; }

std::uint32_t socket_of(const Machine& machine, std::uint32_t rank) {
  return slot_of(machine, rank) * machine.sockets_per_host / machine.ranks_per_host;
}

std::string host_name(const Machine& machine, std::uint32_t host) {
  const auto& names = machine.network.hosts;
  return host < names.size() && !names[host].empty() ? names[host] : "host" + std::to_string(host);
}

void check(const Machine& machine, const PlantedFault& fault, const std::string& name) {
  check_component(machine, fault.component, name);
  expect(fault.factor >= 1 && fault.factor <= 1e6, name, "its factor is not from 1 to 1e6");
  expect(fault.add_ns >= 0 && fault.add_ns <= 1e12, name, "what it adds is not from 0 to 1e12 ns");
  expect(is_share(fault.loss), name, "the probability of a loss is not from 0 to 1");
  expect(fault.retry_ns > 0 && fault.retry_ns <= 1e12, name, "its retransmission takes not above 0, up to 1e12 ns");
  const Persistence lasts = fault.lasts;
  expect(lasts == Persistence::persistent || lasts == Persistence::only_under_load || lasts == Persistence::transient,
         name, "it does not say whether it lasts");
}

void check(const Machine& machine) {
  const std::string name = "the simulated machine cannot be";
  expect(machine.num_ranks >= 1 && machine.num_ranks <= (1U << 20), name, "its ranks are not from 1 to 2^20");
  expect(machine.ranks_per_host >= 1 && machine.ranks_per_host <= (1U << 16), name,
         "its ranks on a host are not from 1 to 2^16");
  expect(machine.sockets_per_host >= 1 && machine.sockets_per_host <= machine.ranks_per_host, name,
         fmt::format("{} sockets for {} ranks of a host", machine.sockets_per_host, machine.ranks_per_host));
  expect(num_hosts(machine) <= machine.network.hosts.size(), name,
         fmt::format("{} ranks, {} a host, need {} hosts; the topology has {}", machine.num_ranks,
                     machine.ranks_per_host, num_hosts(machine), machine.network.hosts.size()));
  for (const network::Level& level : machine.network.levels)
    expect(level.group_of.size() == machine.network.hosts.size(), name, "a level does not say where each host is");
  expect(machine.num_batches >= 1 && machine.num_batches <= 100, name, "its batches are not from 1 to 100");
  expect(machine.messages_per_batch >= 1 && machine.messages_per_batch <= 100'000'000, name,
         "the messages of a batch are not from 1 to 1e8");
  expect(machine.far_socket_ns >= 0 && machine.far_socket_ns <= 1e9, name, "a far socket costs not from 0 to 1e9 ns");
  const auto expect_speed = [&](const Speed& speed) {
    expect(speed.latency_ns > 0 && speed.latency_ns <= 1e12 && speed.bandwidth_bytes_per_s > 0 &&
               speed.bandwidth_bytes_per_s <= 1e18,
           name, "a latency or a bandwidth is not positive, or beyond 1e12 ns or 1e18 B/s");
  };
  expect_speed(machine.same_socket);
  expect_speed(machine.same_host);
  for (const Speed& speed : machine.between) expect_speed(speed);
  check_noise(machine.noise);
  for (std::size_t i = 0; i < machine.faults.size(); ++i)
    check(machine, machine.faults[i], fmt::format("fault {} of the simulated machine is wrong", i));
}

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
