// SPDX-License-Identifier: Apache-2.0
// Of each pair of hosts the upper quartile, and of each host the median over its partners.
#include "diagnosis/late_at_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/reference.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace leadline::diagnosis {
namespace {

constexpr double quantile_of_slower = 0.75;
constexpr std::size_t fewest_partners_of_host = 3, fewest_hosts_beside_late = 4;
constexpr double least_spread_of_late = 0.02;  // of hosts: logarithm
constexpr double beside_the_next = 2;          // times as late

/// Two hosts, and by how much their slower messages are later than those of the median pair of their class: logarithm.
struct ShownByHosts {
  std::uint32_t one = 0, other = 0;
  double value = 0;

  bool is_of(std::uint32_t host) const { return one == host || other == host; }
};

std::vector<ShownByHosts> shown_by_hosts(std::span<const Observation> observations, const Setting& setting) {
  struct PairOfHosts {
    std::uint8_t of_class = 0;
    std::vector<double> logarithms;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, PairOfHosts> pairs;
  for (const Observation& one : observations) {
    const std::uint32_t from = setting.layout.host_of[one.from], to = setting.layout.host_of[one.to];
    if (from == to || !(one.time_ns > 0) || std::isinf(one.time_ns)) continue;
    PairOfHosts& pair = pairs[std::minmax(from, to)];
    pair.of_class = setting.classes.of(one.from, one.to);
    pair.logarithms.push_back(std::log(one.time_ns));
  }
  std::vector<ShownByHosts> shown;
  std::vector<std::vector<double>> of_classes(setting.classes.size());
  for (auto& [hosts, pair] : pairs) {
    std::ranges::sort(pair.logarithms);
    shown.push_back({hosts.first, hosts.second, stats::quantile_of_sorted(pair.logarithms, quantile_of_slower)});
    of_classes[pair.of_class].push_back(shown.back().value);
  }
  std::vector<double> usual;
  for (std::vector<double>& of_class : of_classes) usual.push_back(middle_of(std::move(of_class)).median);
  std::size_t at = 0;
  for (const auto& [hosts, pair] : pairs) shown[at++].value -= usual[pair.of_class];
  return shown;
}

struct LateHost {
  std::uint32_t host = 0;
  double value = 0;  ///< median over partners
};

/// Those with enough partners, latest first.
std::vector<LateHost> hosts_by_lateness(std::span<const ShownByHosts> shown) {
  std::map<std::uint32_t, std::vector<double>> values_of;
  for (const ShownByHosts& pair : shown) {
    values_of[pair.one].push_back(pair.value);
    values_of[pair.other].push_back(pair.value);
  }
  std::vector<LateHost> hosts;
  for (auto& [host, values] : values_of) {
    if (values.size() >= fewest_partners_of_host) hosts.push_back({host, middle_of(std::move(values)).median});
  }
  std::ranges::stable_sort(hosts, std::ranges::greater{}, &LateHost::value);
  return hosts;
}

/// The chance that as many pairs of a host are later than this, by the share of the others that are (binomial).
double chance_of_late_pairs(std::span<const ShownByHosts> shown, std::uint32_t host, double least) {
  std::uint64_t own = 0, own_late = 0, others = 0, others_late = 0;
  for (const ShownByHosts& pair : shown) {
    const bool is_late = pair.value >= least;
    ++(pair.is_of(host) ? own : others);
    if (is_late) ++(pair.is_of(host) ? own_late : others_late);
  }
  return stats::binomial_tail(own_late, own, static_cast<double>(others_late + 1) / static_cast<double>(others + 2));
}

}  // namespace

std::optional<Fault> host_late_at_times(std::span<const Observation> observations, const Setting& setting,
                                        const DiagnosisSettings& settings) {
  const std::vector<ShownByHosts> shown = shown_by_hosts(observations, setting);
  const std::vector<LateHost> hosts = hosts_by_lateness(shown);
  if (hosts.size() < fewest_hosts_beside_late) return std::nullopt;
  std::vector<double> others;
  for (const LateHost& one : std::span(hosts).subspan(1)) others.push_back(one.value);
  const double next = others.front();
  const Middle usual = middle_of(std::move(others));
  const LateHost& latest = hosts.front();
  const double effect = latest.value - usual.median, spread = std::max(usual.spread, least_spread_of_late);
  if (effect < std::log1p(settings.threshold) || effect < beside_the_next * (next - usual.median)) return std::nullopt;
  const double p_value = chance_of_late_pairs(shown, latest.host, usual.median + effect / 2);
  if (p_value * static_cast<double>(hosts.size()) > settings.false_discovery_rate) return std::nullopt;
  Fault fault;
  fault.component = {ComponentKind::port, -1, static_cast<std::int32_t>(latest.host), -1, -1};
  fault.name = name_of_component(setting, fault.component, fault.direction);
  name_concerned(setting, fault);
  fault.ratio = std::exp(effect);
  fault.ratio_low = std::exp(effect - both_sides * spread);
  fault.ratio_high = std::exp(effect + both_sides * spread);
  fault.p_value = p_value;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Observation& one : observations) {
    const std::uint32_t from = setting.layout.host_of[one.from], to = setting.layout.host_of[one.to];
    if (from != to && (from == latest.host || to == latest.host)) pairs.emplace(one.from, one.to);
  }
  fault.num_pairs = pairs.size();
  fault.advice = advice_for(fault.component.kind, Symptom::unsteady, fault.name);
  return fault;
}

}  // namespace leadline::diagnosis
