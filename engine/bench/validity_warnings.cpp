// SPDX-License-Identifier: Apache-2.0
// The rules of validity warnings, one function each.
#include "bench/validity_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "core/units.hpp"
#include "stats/summary.hpp"

namespace leadline::bench {
namespace {

constexpr std::size_t max_named = 5;  // of a finding; the result has them all

constexpr double max_clock_share = 0.05;  // of the shortest time

std::optional<Finding> oversubscribed(const Conditions& conditions) {
  if (conditions.ranks_per_core_max <= 1) return std::nullopt;
  return Finding{"oversubscribed",
                 Severity::warning,
                 "There are more ranks than cores: times contain waiting for a core.",
                 fmt::format("{:.3g} ranks a core on the fullest host; ranks wait by '{}'",
                             conditions.ranks_per_core_max, name_of(conditions.wait)),
                 "Start at most one rank a core, or read the result as a comparison only.",
                 {},
                 {},
                 {},
                 {{.name = "ranks a core, at most", .unit = "1", .value = conditions.ranks_per_core_max}}};
}

std::optional<Finding> not_bound(const Conditions& conditions) {
  if (conditions.is_bound) return std::nullopt;
  return Finding{"not_bound", Severity::note, "Ranks are not bound to cores: times contain migrations.",
                 "every rank may run on all cores of its host",
                 "Give each rank a core, and bind them: --bind core, mpirun --bind-to core or srun --cpu-bind=cores."};
}

std::optional<Finding> clock_too_coarse(const Conditions& conditions, const ShortestTimed& shortest) {
  const double step_ns = std::max(conditions.clock.resolution_ns, conditions.clock.cost_ns);
  if (step_ns <= max_clock_share * shortest.time_ns) return std::nullopt;
  return Finding{"clock_too_coarse",
                 Severity::warning,
                 fmt::format("The clock is coarse against the {}: {}.", shortest.name, shortest.consequence),
                 fmt::format("clock step {:.0f} ns, reading {:.0f} ns, {} {:.0f} ns", conditions.clock.resolution_ns,
                             conditions.clock.cost_ns, shortest.name, shortest.time_ns),
                 shortest.advice,
                 {},
                 {},
                 {},
                 {{.name = "clock step", .unit = "ns", .value = conditions.clock.resolution_ns},
                  {.name = "reading the clock", .unit = "ns", .value = conditions.clock.cost_ns},
                  {.name = shortest.name, .unit = "ns", .value = shortest.time_ns}}};
}

std::string rates_of(const std::vector<const AdapterGroup*>& groups) {
  std::string text;
  for (const AdapterGroup* group : groups) {
    text += fmt::format("{}{} of {}: {}", text.empty() ? "" : "; ", group->adapter.name,
                        listed({group->hosts.begin(), group->hosts.end()}), group->adapter.link);
    if (group->adapter.slot.empty()) continue;
    text += ", " + group->adapter.slot;
    if (!group->adapter.possible_slot.empty())
      text += fmt::format(" of {} that it could", group->adapter.possible_slot);
  }
  return text;
}

/// Hosts and adapters as data.
void tell_of(const std::vector<const AdapterGroup*>& groups, Finding& finding) {
  finding.list = FindingList::persistent;
  for (const AdapterGroup* group : groups) {
    const cluster::Adapter& adapter = group->adapter;
    finding.host_names.insert(finding.host_names.end(), group->hosts.begin(), group->hosts.end());
    finding.adapters.push_back({adapter.name,
                                adapter.link,
                                adapter.slot,
                                adapter.possible_slot,
                                adapter.rate_bytes_per_s(),
                                {group->hosts.begin(), group->hosts.end()}});
  }
}

/// Whatever was measured: a cable or a port that has fallen back to a lower speed says so.
std::optional<Finding> slower_adapters(const Conditions& conditions) {
  if (conditions.adapters.empty()) return std::nullopt;
  constexpr double as_fast = 0.99;
  const AdapterGroup& usual = conditions.adapters.front();
  std::vector<const AdapterGroup*> slower;
  for (const AdapterGroup& group : conditions.adapters) {
    const double rate = group.adapter.rate_bytes_per_s();
    if (rate > 0 && rate < as_fast * usual.adapter.rate_bytes_per_s()) slower.push_back(&group);
  }
  if (slower.empty()) return std::nullopt;
  Finding finding{"slower_adapters", Severity::warning, "Adapters of some hosts are set to less than those of most.",
                  fmt::format("{}; {} of most: {}", rates_of(slower), usual.adapter.name, usual.adapter.link),
                  "Look at cable, port of the switch and slot of these hosts: 'ethtool', 'ibstat', 'lspci -vv'."};
  tell_of(slower, finding);
  return finding;
}

/// Where the slot is what limits the adapter.
std::optional<Finding> narrow_slots(const Conditions& conditions) {
  std::vector<const AdapterGroup*> narrow;
  for (const AdapterGroup& group : conditions.adapters) {
    if (group.adapter.is_limited_by_slot() && !group.adapter.possible_slot.empty()) narrow.push_back(&group);
  }
  if (narrow.empty()) return std::nullopt;
  Finding finding{"narrow_slots", Severity::warning, "The PCIe slot of adapters carries less than their network.",
                  rates_of(narrow), "Use a faster slot, or look why its link has fallen back: 'lspci -vv', LnkSta."};
  tell_of(narrow, finding);
  return finding;
}

/// Of two hosts it is not known which one is as it should be.
std::optional<Finding> slow_memory(const Conditions& conditions) {
  constexpr std::size_t fewest_hosts = 3;
  if (conditions.memories.size() < fewest_hosts) return std::nullopt;
  const double usual = median_copy(conditions.memories);
  Finding finding{"slow_memory", Severity::warning, "Memory of some hosts is slower than that of the others.", "",
                  "Look at clock frequency, power limits, NUMA settings and memory errors of these hosts, and at what "
                  "else runs there: 'lscpu', 'numactl --hardware', 'dmesg'."};
  std::vector<std::string> shares;
  for (const HostMemory& one : conditions.memories) {
    if (one.bytes_per_s >= least_share_of_copy * usual) continue;
    finding.host_names.push_back(one.host);
    finding.numbers.push_back({"memory copy", one.host, "B/s", one.bytes_per_s});
    shares.push_back(fmt::format("{} copies {}, {:.2g} of the others'", one.host, format_bandwidth(one.bytes_per_s),
                                 one.bytes_per_s / usual));
  }
  if (shares.empty()) return std::nullopt;
  finding.list = FindingList::persistent;
  finding.evidence = fmt::format("{}; median of all {} hosts: {}", listed(shares), conditions.memories.size(),
                                 format_bandwidth(usual));
  return finding;
}

}  // namespace

double median_copy(const std::vector<HostMemory>& hosts) {
  std::vector<double> rates;
  for (const HostMemory& one : hosts) rates.push_back(one.bytes_per_s);
  std::ranges::sort(rates);
  return rates.empty() ? 0 : stats::quantile_of_sorted(rates, 0.5);
}

std::string listed(const std::vector<std::string>& names) {
  const std::size_t num = std::min(names.size(), max_named);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(num), ", "));
  if (names.size() > num) text += fmt::format(" and {} more", names.size() - num);
  return text;
}

std::vector<Finding> machine_validity_warnings(const Conditions& conditions, const ShortestTimed& shortest) {
  if (conditions.simulated) return {};
  std::vector<Finding> findings;
  for (const auto& finding :
       {oversubscribed(conditions), clock_too_coarse(conditions, shortest), slower_adapters(conditions),
        narrow_slots(conditions), slow_memory(conditions), not_bound(conditions)}) {
    if (finding) findings.push_back(*finding);
  }
  return findings;
}

std::optional<Finding> simulated(const Conditions& conditions) {
  if (!conditions.simulated) return std::nullopt;
  return Finding{"simulated", Severity::note, "The times come from a model, not from hardware.", "transport 'model'",
                 "Use another --transport to measure."};
}

}  // namespace leadline::bench
