// SPDX-License-Identifier: Apache-2.0
// From a machine to times: speeds, then faults in their order, then what scatters.
#include "synthetic/simulator.hpp"

#include <algorithm>
#include <cmath>

#include "stats/summary.hpp"

namespace leadline::synthetic {
namespace {

Machine checked(Machine machine) {
  if (machine.between.empty()) machine.between = usual_between(network::num_distances(machine.network));
  check(machine);
  return machine;
}

bool shows(const PlantedFault& fault, LoadCondition load_condition) {
  if (load_condition == LoadCondition::main_test || fault.lasts == Persistence::persistent) return true;
  return fault.lasts == Persistence::only_under_load && load_condition == LoadCondition::concurrent;
}

double slowed(double time_ns, const PlantedFault& fault) { return time_ns * fault.factor + fault.add_ns; }

/// How many of n messages are lost, from one uniform number: the inverse of the binomial distribution.
std::uint32_t num_lost(std::uint32_t n, double probability, double u) {
  if (probability >= 1) return n;
  double of_this = std::exp(n * std::log1p(-probability)), so_far = of_this;
  std::uint32_t lost = 0;
  while (u > so_far && lost < n) {
    of_this *= static_cast<double>(n - lost) / (lost + 1.0) * (probability / (1 - probability));
    so_far += of_this;
    ++lost;
  }
  return lost;
}

}  // namespace

Simulator::Simulator(Machine machine)
    : machine_(checked(std::move(machine))), noise_(machine_.noise, machine_.seed, machine_.num_batches) {
  for (const PlantedFault& fault : machine_.faults) faults_.push_back({fault, Reach(machine_, fault)});
  for (std::uint32_t rank = 0; rank < machine_.num_ranks; ++rank) {
    host_of_.push_back(host_of(machine_, rank));
    far_ns_.push_back(socket_of(machine_, rank) == 0 ? 0 : machine_.far_socket_ns);
    end_factor_.push_back(noise_.of_host(host_of_.back()) * noise_.of_rank(rank));
  }
  same_socket_ns_ = message_ns(machine_.same_socket);
  same_host_ns_ = message_ns(machine_.same_host);
  for (const Speed& speed : machine_.between) between_ns_.push_back(message_ns(speed));
}

double Simulator::message_ns(const Speed& speed) const {
  return speed.latency_ns + static_cast<double>(machine_.message_size_bytes) / speed.bandwidth_bytes_per_s * 1e9;
}

double Simulator::between_ns(std::uint32_t host, std::uint32_t other) const {
  return between_ns_[std::min(network::distance(machine_.network, host, other), between_ns_.size() - 1)];
}

double Simulator::healthy_ns(std::uint32_t from, std::uint32_t to) const {
  if (!is_inside(from, to)) return between_ns(host_of_[from], host_of_[to]) + (far_ns_[from] + far_ns_[to]);
  return socket_of(machine_, from) == socket_of(machine_, to) ? same_socket_ns_ : same_host_ns_;
}

double Simulator::one_way_ns(std::uint32_t from, std::uint32_t to, LoadCondition load_condition) const {
  double time_ns = healthy_ns(from, to);
  for (const Active& active : faults_) {
    if (shows(active.fault, load_condition) && active.reach.meets(from, to, is_inside(from, to)))
      time_ns = slowed(time_ns, active.fault);
  }
  return time_ns;
}

double Simulator::both_ways_ns(double there_ns, double back_ns) const {
  switch (machine_.direction) {
    case Direction::unidirectional:
      break;
    case Direction::semidirectional:
      return (there_ns + back_ns) / 2;
    case Direction::bidirectional:
      return std::max(there_ns, back_ns);
  }
  return there_ns;
}

double Simulator::usual_ns(std::uint32_t from, std::uint32_t to, LoadCondition load_condition) const {
  return both_ways_ns(one_way_ns(from, to, load_condition), one_way_ns(to, from, load_condition));
}

void Simulator::healthy_row(std::uint32_t from, std::span<double> time_ns) const {
  // A host is asked for once: its ranks are neighbours.
  for (std::uint32_t first = 0; first < time_ns.size();) {
    const std::uint32_t host = host_of_[first];
    const bool is_own = host == host_of_[from];
    const double base_ns = is_own ? 0 : between_ns(host_of_[from], host);
    std::uint32_t to = first;
    for (; to < time_ns.size() && host_of_[to] == host; ++to)
      time_ns[to] = is_own ? healthy_ns(from, to) : base_ns + (far_ns_[from] + far_ns_[to]);
    first = to;
  }
}

void Simulator::medians(std::uint32_t from, std::span<double> time_ns) const {
  const std::uint32_t num_ranks = machine_.num_ranks;
  healthy_row(from, time_ns);
  std::vector<double> back_ns(time_ns.begin(), time_ns.end());  // what is healthy is so both ways
  const bool goes_back = machine_.direction != Direction::unidirectional;
  for (const Active& active : faults_) {
    const bool may_meet = active.reach.may_meet_from(from), may_meet_back = goes_back && active.reach.may_meet_to(from);
    for (std::uint32_t to = 0; may_meet && to < num_ranks; ++to)
      if (active.reach.meets(from, to, is_inside(from, to))) time_ns[to] = slowed(time_ns[to], active.fault);
    for (std::uint32_t to = 0; may_meet_back && to < num_ranks; ++to)
      if (active.reach.meets(to, from, is_inside(from, to))) back_ns[to] = slowed(back_ns[to], active.fault);
  }
  const std::uint64_t row_key = noise_.row_key(from);
  const double own_factor = end_factor_[from];
  for (std::uint32_t to = 0; to < num_ranks; ++to) {
    const std::uint64_t key = NoiseModel::pair_key(row_key, to);
    const double persistent =
        both_ways_ns(time_ns[to], back_ns[to]) * (own_factor * end_factor_[to]) * noise_.of_pair(key);
    time_ns[to] = persistent * noise_.of_disturbance(key) * noise_.median(NoiseModel::batches_key(key, 0));
  }
  time_ns[from] = 0;
  put_losses(from, time_ns);
}

void Simulator::put_losses(std::uint32_t from, std::span<double> median_ns) const {
  for (const Active& active : faults_) {
    const bool may_meet = active.reach.may_meet_from(from) || active.reach.may_meet_to(from);
    if (!(active.fault.loss > 0) || !may_meet) continue;
    for (std::uint32_t to = 0; to < machine_.num_ranks; ++to) {
      const bool inside = is_inside(from, to);
      const bool is_met = active.reach.meets(from, to, inside) || active.reach.meets(to, from, inside);
      if (is_met && to != from) median_ns[to] = record(from, to).time_ns_median;
    }
  }
}

Simulator::Measurement Simulator::measurement(std::uint32_t from, std::uint32_t to, LoadCondition load_condition,
                                              std::uint32_t attempt) const {
  const std::uint64_t key = NoiseModel::pair_key(noise_.row_key(from), to);
  double time_ns = usual_ns(from, to, load_condition) * (end_factor_[from] * end_factor_[to]) * noise_.of_pair(key);
  if (load_condition == LoadCondition::main_test) time_ns *= noise_.of_disturbance(key);
  // Retests of either kind count apart.
  const std::uint32_t nth =
      load_condition == LoadCondition::main_test ? 0 : 2 * attempt + (load_condition == LoadCondition::alone ? 1 : 2);
  return {time_ns, NoiseModel::batches_key(key, nth)};
}

std::vector<Simulator::Loss> Simulator::losses(std::uint32_t from, std::uint32_t to,
                                               LoadCondition load_condition) const {
  std::vector<Loss> found;
  const auto add = [&](const Active& active, std::uint32_t num_ways) {
    const double num_messages = machine_.messages_per_batch * num_ways;
    found.push_back({active.fault.loss, active.fault.retry_ns / num_messages, machine_.messages_per_batch});
  };
  // A ping-pong's time is that of two messages, of which either may be lost.
  const std::uint32_t num_ways = machine_.direction == Direction::semidirectional ? 2 : 1;
  for (const Active& active : faults_) {
    if (!(active.fault.loss > 0) || !shows(active.fault, load_condition)) continue;
    if (active.reach.meets(from, to, is_inside(from, to))) add(active, num_ways);
    const bool goes_back = machine_.direction != Direction::unidirectional;
    if (goes_back && active.reach.meets(to, from, is_inside(from, to))) add(active, num_ways);
  }
  return found;
}

PairRecord Simulator::with_losses(const Measurement& measurement, const std::vector<Loss>& losses) const {
  std::vector<double> times_ns(machine_.num_batches);
  noise_.each_batch(measurement.batches_key, times_ns);
  std::uint64_t n = machine_.num_batches + 2U;  // behind those of the batches
  for (double& time_ns : times_ns) {
    time_ns *= measurement.time_ns;
    for (const Loss& loss : losses) {
      const double u = uniform_of(NoiseModel::number(measurement.batches_key, ++n));
      time_ns += loss.add_ns * num_lost(loss.num_messages, loss.probability, u);
    }
  }
  return pair_record(stats::summarize(times_ns));
}

PairRecord Simulator::record_of(std::uint32_t from, std::uint32_t to, LoadCondition load_condition,
                                std::uint32_t attempt) const {
  const Measurement it = measurement(from, to, load_condition, attempt);
  const std::vector<Loss> lost = losses(from, to, load_condition);
  if (!lost.empty()) return with_losses(it, lost);
  return pair_record(noise_.batches(it.batches_key), it.time_ns);
}

PairRecord Simulator::record(std::uint32_t from, std::uint32_t to) const {
  return record_of(from, to, LoadCondition::main_test, 0);
}

double Simulator::median_ns(std::uint32_t from, std::uint32_t to) const {
  const Measurement it = measurement(from, to, LoadCondition::main_test, 0);
  const std::vector<Loss> lost = losses(from, to, LoadCondition::main_test);
  return lost.empty() ? it.time_ns * noise_.median(it.batches_key) : with_losses(it, lost).time_ns_median;
}

PairRow Simulator::row(std::uint32_t from) const {
  PairRow row(machine_.num_ranks);
  for (std::uint32_t to = 0; to < machine_.num_ranks; ++to)
    if (to != from) row.set(to, record(from, to));
  return row;
}

PairRecord Simulator::retest(std::uint32_t from, std::uint32_t to, std::uint32_t attempt,
                             LoadCondition load_condition) const {
  return record_of(from, to, load_condition, attempt);
}

double Simulator::retest_median_ns(std::uint32_t from, std::uint32_t to, std::uint32_t attempt,
                                   LoadCondition load_condition) const {
  return record_of(from, to, load_condition, attempt).time_ns_median;
}

}  // namespace leadline::synthetic
