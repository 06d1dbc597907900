// SPDX-License-Identifier: Apache-2.0
// Simulates, plants, and turns components into text that can be compared.
#include "made_up.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "network/parse_network.hpp"

namespace leadline::diagnosis {

void fill(DenseRows& rows, const Matrix& matrix) {
  std::vector<double> logarithms(rows.num_ranks());
  for (std::uint32_t from = 0; from < rows.num_ranks(); ++from) {
    for (std::uint32_t to = 0; to < rows.num_ranks(); ++to) logarithms[to] = matrix(from, to);
    rows.set(from, logarithms);
  }
}

synthetic::Machine machine_of(const Shape& shape) {
  synthetic::Machine machine;
  const std::uint32_t num_hosts = shape.hosts_a_leaf * shape.num_leaves;
  if (shape.num_leaves > 1) {
    machine.network = network::parse_network(fmt::format("fat-tree:{}x{}", shape.hosts_a_leaf, shape.num_leaves),
                                             std::vector<std::string>(num_hosts));
  }
  machine.network.hosts.clear();
  for (std::uint32_t host = 0; host < num_hosts; ++host) machine.network.hosts.push_back(fmt::format("node{}", host));
  machine.num_ranks = num_hosts * shape.ranks_per_host;
  machine.ranks_per_host = shape.ranks_per_host;
  machine.sockets_per_host = shape.sockets_per_host;
  return machine;
}

Layout layout_of(const synthetic::Machine& machine) {
  Layout layout;
  for (std::uint32_t rank = 0; rank < machine.num_ranks; ++rank) {
    layout.host_of.push_back(host_of(machine, rank));
    layout.socket_of.push_back(static_cast<std::int32_t>(socket_of(machine, rank)));
  }
  for (std::uint32_t host = 0; host < num_hosts(machine); ++host) layout.host_names.push_back(host_name(machine, host));
  layout.network = machine.network;
  return layout;
}

synthetic::PlantedFault planted(Component component, double factor, FaultDirection direction) {
  synthetic::PlantedFault fault;
  fault.component = component;
  fault.factor = factor;
  fault.direction = direction;
  return fault;
}

Measured::Measured(const synthetic::Machine& machine, std::size_t num_workers)
    : simulator_(machine),
      layout_(layout_of(machine)),
      rows_(machine.num_ranks, num_workers),
      has_means_(std::ranges::any_of(machine.faults, [](const auto& fault) { return fault.loss > 0; })) {}

double Measured::logarithm(Symptom symptom, std::uint32_t from, std::uint32_t to) const {
  if (from == to || (is_hole_ && is_hole_(from, to))) return std::numeric_limits<double>::quiet_NaN();
  const PairRecord record = simulator_.record(from, to);
  const double median = std::log(record.time_ns_median);
  return symptom == Symptom::slow ? median : std::log(record.time_ns_mean) - median;
}

const DenseRows& Measured::rows(Symptom symptom) {
  if (symptom == Symptom::unsteady) {
    fill(rows_, [&](std::uint32_t from, std::uint32_t to) { return logarithm(symptom, from, to); });
    return rows_;
  }
  std::vector<double> times(rows_.num_ranks());  // the fast way to medians, the same numbers
  for (std::uint32_t from = 0; from < rows_.num_ranks(); ++from) {
    simulator_.medians(from, times);
    for (std::uint32_t to = 0; to < rows_.num_ranks(); ++to) {
      const bool is_hole = from == to || (is_hole_ && is_hole_(from, to));
      times[to] = is_hole ? std::numeric_limits<double>::quiet_NaN() : std::log(times[to]);
    }
    rows_.set(from, times);
  }
  return rows_;
}

Retest Measured::retest() {
  // Several holders of rows ask alike, each with a count of its own.
  const auto attempts = std::make_shared<std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>>();
  return [this, attempts](std::span<const OrderedPair> pairs, Load load) {
    using synthetic::LoadCondition;
    const LoadCondition load_condition = load == Load::alone ? LoadCondition::alone : LoadCondition::concurrent;
    std::vector<RetestTimes> times;
    for (const OrderedPair& pair : pairs) {
      const std::uint32_t attempt = ++(*attempts)[{pair.from, pair.to}];
      const PairRecord record = simulator_.retest(pair.from, pair.to, attempt, load_condition);
      times.push_back({record.time_ns_median, record.time_ns_mean});
    }
    return times;
  };
}

Question Measured::question() {
  const std::uint64_t num = layout_.host_of.size();
  return {[this](Symptom symptom) -> const Rows& { return rows(symptom); },
          layout_,
          {},
          num*(num - 1),
          has_means_,
          retest()};
}

std::string described(Component component, FaultDirection direction, Symptom symptom) {
  if (component.second >= 0 && component.first > component.second) {
    std::swap(component.first, component.second);
    if (direction != FaultDirection::both)
      direction = direction == FaultDirection::out ? FaultDirection::in : FaultDirection::out;
  }
  return fmt::format("{} {} {} {} {} {} {}", name_of(component.kind), component.first, component.second,
                     component.level, component.socket, name_of(direction), name_of(symptom));
}

std::vector<std::string> faults_of(const Diagnosis& diagnosis) {
  std::vector<std::string> found;
  for (const Fault& fault : diagnosis.faults) {
    if (!fault.is_note) found.push_back(described(fault.component, fault.direction, fault.symptom));
  }
  return found;
}

std::vector<std::string> faults_of(const synthetic::Machine& machine) {
  std::vector<std::string> expected;
  for (const auto& fault : machine.faults)
    expected.push_back(described(fault.component, fault.direction, symptom_of(fault)));
  return expected;
}

std::vector<std::string> components_of(const std::vector<Suspect>& suspects) {
  std::vector<std::string> found;
  for (const Suspect& one : suspects) {
    if (!one.is_note) found.push_back(described(one.component, one.direction));
  }
  return found;
}

std::string in_full(const Diagnosis& diagnosis) {
  std::string text = fmt::format("{} of {} by {}: {}\n", diagnosis.num_measured, diagnosis.num_pairs,
                                 diagnosis.topology, fmt::join(diagnosis.notes, "; "));
  for (const DiagnosedClass& one : diagnosis.classes) {
    text += fmt::format("{} {} {:a} {:a}\n", one.name, one.num_pairs, one.time_ns_median, one.spread);
  }
  for (const Fault& fault : diagnosis.faults) {
    text += fmt::format("{} {} {:a} {:a} {:a} {:a} {} {} {} {:a} {} {}\n",
                        described(fault.component, fault.direction, fault.symptom), fault.name, fault.ratio,
                        fault.ratio_low, fault.ratio_high, fault.p_value, fault.num_pairs, fault.advice,
                        name_of(fault.persistence), fault.ratio_alone, fault.is_note, fmt::join(fault.ruled_out, "; "));
    for (const ShownPair& pair : fault.pairs) {
      text += fmt::format("  {} {} {:a} {:a}\n", pair.from, pair.to, pair.measured, pair.expected);
    }
  }
  return text;
}

}  // namespace leadline::diagnosis
