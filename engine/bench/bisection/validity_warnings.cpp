// SPDX-License-Identifier: Apache-2.0
// One host only, intervals that rest on little, and patterns that were not measured.
#include "bench/bisection/validity_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>

#include "bench/bisection/stopping.hpp"
#include "core/units.hpp"

namespace leadline::bench::bisection {
namespace {

std::optional<Finding> one_host(const BisectionResult& result) {
  if (result.hosts.size() != 1) return std::nullopt;
  return Finding{"one_host",
                 Severity::note,
                 "All ranks are on one host: no network was measured.",
                 fmt::format("ranks {} on {}", result.hosts.front().ranks, result.hosts.front().host),
                 "Start ranks on several hosts to measure what lies between them.",
                 {result.hosts.front().host}};
}

std::optional<Finding> few_patterns(const BisectionResult& result) {
  std::vector<std::string> sizes;
  std::uint64_t fewest = Stopping::min_patterns;
  for (const BisectionSummary& size : result.sizes) {
    if (size.num_patterns == 0 || size.num_patterns >= Stopping::min_patterns) continue;
    sizes.push_back(format_bytes(size.message_size_bytes));
    fewest = std::min(fewest, size.num_patterns);
  }
  if (sizes.empty()) return std::nullopt;
  return Finding{"few_patterns",
                 Severity::note,
                 "Intervals rest on few patterns, and so on the assumption that these are distributed normally.",
                 fmt::format("{} random patterns of {}, fewer than {}", fewest, listed(sizes), Stopping::min_patterns),
                 "Use more --rounds, or a longer --time-limit.",
                 {},
                 {},
                 {},
                 {{.name = "random patterns, at least", .unit = "1", .value = static_cast<double>(fewest)}}};
}

/// Named patterns and steps of the search that were not reached.
std::optional<Finding> left_out(const BisectionResult& result) {
  const std::uint64_t num_sizes = result.sizes.size();
  const std::uint64_t num_asked =
      num_sizes * (result.pattern_names.size() * static_cast<std::uint64_t>(result.request.repeat) +
                   result.request.num_worst_steps);
  const auto num_done = static_cast<std::uint64_t>(
      std::count_if(result.patterns.begin(), result.patterns.end(),
                    [](const PatternSummary& pattern) { return pattern.position.kind != PatternKind::random; }));
  if (num_done >= num_asked) return std::nullopt;
  return Finding{"patterns_left_out",
                 Severity::note,
                 "Time was over before all named patterns and steps of the search were measured.",
                 fmt::format("{} of {}", num_done, num_asked),
                 "Use a longer --time-limit, or fewer --rounds.",
                 {},
                 {},
                 {},
                 {{.name = "patterns measured", .unit = "1", .value = static_cast<double>(num_done)},
                  {.name = "patterns asked for", .unit = "1", .value = static_cast<double>(num_asked)}}};
}

ShortestTimed shortest_loop(const BisectionResult& result) {
  double shortest_ns = std::numeric_limits<double>::infinity();
  for (const PatternSummary& pattern : result.patterns) {
    const double exchange_ns = 1e9 * static_cast<double>(pattern.position.message_size_bytes) / pattern.bytes_per_s_max;
    shortest_ns = std::fmin(shortest_ns, exchange_ns * static_cast<double>(result.request.num_exchanges));
  }
  return {shortest_ns, "fastest connection's exchanges", "the times of single patterns are inexact",
          "Use a larger --message-size, or more --exchanges."};
}

}  // namespace

std::vector<Finding> validity_warnings(const Conditions& conditions, const BisectionResult& result) {
  std::vector<Finding> findings;
  const auto add = [&](const std::optional<Finding>& finding) {
    if (finding) findings.push_back(*finding);
  };
  for (const Finding& finding : machine_validity_warnings(conditions, shortest_loop(result))) add(finding);
  add(one_host(result));
  add(few_patterns(result));
  add(left_out(result));
  add(simulated(conditions));
  return findings;
}

std::optional<Finding> one_way_in_step(const Plan& plan) {
  std::vector<std::string> names;
  for (const schedule::PatternSpec& spec : plan.named) {
    const bool is_matching = schedule::named_pattern(spec, plan.participants.num_ranks, plan.ranks).is_matching();
    if (!is_matching) names.push_back(spec.name);
  }
  if (names.empty()) return std::nullopt;
  return Finding{"streams_in_step", Severity::warning,
                 fmt::format("Over this transport a rank's next message waits for the one that it receives: a slow "
                             "connection of {} slows down those behind it.",
                             listed(names)),
                 "sends and receives of a rank are one operation of the library",
                 "Judge connections by patterns of pairs, or by another transport."};
}

}  // namespace leadline::bench::bisection
