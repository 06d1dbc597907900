// SPDX-License-Identifier: Apache-2.0
// The rules that all benchmarks share, over the fastest exchange.
#include "bench/topology/validity_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "core/units.hpp"

namespace leadline::bench::topology {
namespace {

constexpr std::size_t max_stalls_told = 5;

std::string told(const LoadStall& stall, const std::vector<TopologyFacts>& topologies,
                 const std::function<std::string(std::int32_t rank)>& who) {
  std::string text = fmt::format("{} with {} at {:.2f} s for {:.2f} s",
                                 topologies[static_cast<std::size_t>(stall.cell.topology_index)].name,
                                 format_bytes(stall.cell.message_size_bytes), stall.begin_s, stall.length_s);
  std::vector<std::string> links;
  for (const LoadStall::Resent& link : stall.resent) {
    links.push_back(fmt::format("{} -> {} ({} TCP segments)", who(link.from), who(link.to), link.num));
  }
  return links.empty() ? text : fmt::format("{}, sent again: {}", text, fmt::join(links, ", "));
}

}  // namespace

std::optional<Finding> stalls_finding(std::vector<LoadStall> stalls, double elapsed_s,
                                      const std::vector<TopologyFacts>& topologies,
                                      const std::function<std::string(std::int32_t rank)>& who) {
  if (stalls.empty()) return std::nullopt;
  std::ranges::stable_sort(stalls, std::greater<>(), &LoadStall::length_s);
  Finding finding;
  finding.id = "stalls";
  finding.severity = Severity::warning;
  finding.message = stalls.size() == 1 ? fmt::format("The load stood still for {:.2f} s.", stalls.front().length_s)
                                       : fmt::format("The load stood still {} times, for up to {:.2f} s.",
                                                     stalls.size(), stalls.front().length_s);
  std::vector<std::string> lines;
  std::set<std::int32_t> ranks;
  double length_s = 0;
  for (const LoadStall& stall : stalls) {
    length_s += stall.length_s;
    if (lines.size() == max_stalls_told) continue;
    lines.push_back(told(stall, topologies, who));
    finding.numbers.push_back({.name = "begin of stall", .unit = "s", .value = stall.begin_s});
    finding.numbers.push_back({.name = "length of stall", .unit = "s", .value = stall.length_s});
    for (const LoadStall::Resent& link : stall.resent) {
      ranks.insert({link.from, link.to});
      finding.numbers.push_back({.name = "TCP segments sent again",
                                 .unit = "1",
                                 .value = static_cast<double>(link.num),
                                 .ranks = {link.from, link.to}});
    }
  }
  finding.ranks.assign(ranks.begin(), ranks.end());
  if (elapsed_s > 0) finding.time_share = std::min(1.0, length_s / elapsed_s);
  finding.list = FindingList::only_under_load;
  if (stalls.size() > lines.size()) lines.push_back(fmt::format("and {} more", stalls.size() - lines.size()));
  finding.evidence = fmt::format("{}", fmt::join(lines, "; "));
  finding.advice =
      "Look at what these hosts and the network between them did at that time: a link that went down and came back, "
      "lost packets, a host that stood still.";
  return finding;
}

std::vector<Finding> validity_warnings(const Conditions& conditions, const TopologyResult& result) {
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (const CellSummary& summary : result.cells) fastest_ns = std::fmin(fastest_ns, summary.exchange.min);
  for (const LoadPoint& point : result.load) {
    if (point.num_exchanges > 0) fastest_ns = std::fmin(fastest_ns, point.time_ns_median);
  }
  std::vector<Finding> findings = machine_validity_warnings(
      conditions, {fastest_ns, "fastest exchange", "the times of single exchanges are inexact",
                   "Use a larger --message-size, or more ranks; the median over many --iterations suffers less."});
  if (const auto finding = simulated(conditions)) findings.push_back(*finding);
  return findings;
}

}  // namespace leadline::bench::topology
