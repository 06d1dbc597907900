// SPDX-License-Identifier: Apache-2.0
// Compares the fastest group of a host with what groups usually take.
#include "bench/collective/slow_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "core/units.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::collective {
namespace {

constexpr double least_ratio = 1.1;       // below it nobody is told
constexpr double usual_quantile = 0.25;   // of groups: with half of them slow it is that of the others
constexpr double chance_of_a_run = 0.01;  // that a good host is told

/// A group of a round, and its time in a cell by that of usual groups.
using GroupRatios = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

GroupRatios ratios_of(const std::vector<GroupSample>& samples) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> times_ns;
  for (const GroupSample& sample : samples) times_ns[{sample.round, sample.group}].push_back(sample.time_ns);
  GroupRatios ratios;
  std::vector<double> medians;
  for (auto& [group, times] : times_ns) medians.push_back(ratios[group] = stats::summarize(times).median);
  std::ranges::sort(medians);
  const double usual = stats::quantile_of_sorted(medians, usual_quantile);
  for (auto& [group, ratio] : ratios) ratio /= usual;
  return ratios;
}

/// What a host's groups took in a cell.
struct SlowHost {
  std::size_t host = 0, cell = 0;
  std::vector<double> ratios{};  ///< of all its groups, ascending
  double share_of_all = 0;       ///< of groups that took at least as long as the first of these

  double median() const { return stats::quantile_of_sorted(ratios, 0.5); }
};

/// By host, the groups that it was in.
std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> groups_by_host(const CollectiveRequest& request,
                                                                                 const Plan& plan) {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> groups(plan.hosts.size());
  for (std::uint32_t round = 0; round < request.rounds; ++round) {
    const std::vector<Group> of_round = groups_of(plan, request.seed, round);
    std::map<std::int32_t, std::uint32_t> group_of;
    for (std::uint32_t group = 0; group < of_round.size(); ++group) {
      for (const std::int32_t rank : of_round[group]) group_of[rank] = group;
    }
    for (std::size_t host = 0; host < plan.hosts.size(); ++host) {
      const auto found = group_of.find(plan.hosts[host].front());
      if (found != group_of.end()) groups[host].emplace_back(round, found->second);
    }
  }
  return groups;
}

Finding finding_of(const SlowHost& slow, const CollectiveRequest& request, const Plan& plan,
                   const std::function<std::string(std::int32_t rank)>& name_of_host) {
  const Cell& cell = plan.cells[slow.cell];
  const std::string name = name_of_host(plan.hosts[slow.host].front());
  Finding finding;
  finding.id = "slow_host_of_groups";
  finding.severity = Severity::warning;
  finding.message =
      fmt::format("Host {} is slow: its groups take {:.2g} times as long as others.", name, slow.median());
  finding.evidence = fmt::format(
      "{} of {}: each of its {} groups took {:.2f} to {:.2f} times as long as groups usually do; so do {:.0f} % of all "
      "groups",
      name_of(cell.operation), format_bytes(cell.message_size_bytes), slow.ratios.size(), slow.ratios.front(),
      slow.ratios.back(), 100 * slow.share_of_all);
  finding.advice = "Measure its links with leadline link, or leave the host out.";
  finding.host_names = {name};
  finding.ranks = plan.hosts[slow.host];
  finding.numbers = {
      {.name = "time of its groups by the usual one, least",
       .host_name = name,
       .unit = "1",
       .value = slow.ratios.front()},
      {.name = "time of its groups by the usual one, median", .host_name = name, .unit = "1", .value = slow.median()}};
  finding.list = request.serial ? FindingList::persistent : FindingList::only_under_load;
  return finding;
}

}  // namespace

std::vector<Finding> slow_hosts(const CollectiveRequest& request, const Plan& plan, const Measured& measured,
                                const std::function<std::string(std::int32_t rank)>& name_of_host) {
  if (plan.num_groups < 2) return {};
  const auto groups = groups_by_host(request, plan);
  std::vector<SlowHost> slowest(plan.hosts.size());  // without ratios: not slow
  const double num_tests = static_cast<double>(plan.hosts.size()) * static_cast<double>(plan.cells.size());
  for (std::size_t cell = 0; cell < measured.samples.size(); ++cell) {
    const GroupRatios ratios = ratios_of(measured.samples[cell]);
    for (std::size_t host = 0; host < groups.size(); ++host) {
      SlowHost slow{host, cell};
      for (const auto& group : groups[host]) {
        if (const auto found = ratios.find(group); found != ratios.end()) slow.ratios.push_back(found->second);
      }
      if (slow.ratios.empty()) continue;
      std::ranges::sort(slow.ratios);
      if (slow.ratios.front() <= least_ratio) continue;
      const auto num_slow =
          std::ranges::count_if(ratios, [&](const auto& group) { return group.second >= slow.ratios.front(); });
      slow.share_of_all = static_cast<double>(num_slow) / static_cast<double>(ratios.size());
      const double chance = std::pow(slow.share_of_all, static_cast<double>(slow.ratios.size()));
      if (num_tests * chance >= chance_of_a_run) continue;
      SlowHost& so_far = slowest[host];
      if (so_far.ratios.empty() || slow.ratios.front() > so_far.ratios.front()) so_far = std::move(slow);
    }
  }
  std::erase_if(slowest, [](const SlowHost& slow) { return slow.ratios.empty(); });
  std::ranges::stable_sort(slowest, std::greater<>(), [](const SlowHost& slow) { return slow.ratios.front(); });
  std::vector<Finding> findings;
  for (const SlowHost& slow : slowest) findings.push_back(finding_of(slow, request, plan, name_of_host));
  return findings;
}

}  // namespace leadline::bench::collective
