// SPDX-License-Identifier: Apache-2.0
// Intervals, shares and percentages of a bisection test, and what --dry-run prints of it.
#include "bench/bisection/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_patterns = 40;
constexpr std::size_t most_ranks_in_full = 16;
constexpr std::uint64_t num_random_shown = 3;

std::string who_plays(const bench::bisection::Plan& plan) {
  const auto& host_of = plan.rank_layout.host_of;
  const std::uint64_t num_hosts =
      host_of.empty() ? 1 : std::uint64_t{1} + *std::max_element(host_of.begin(), host_of.end());
  std::string text =
      fmt::format("Bisection test of {} on {}", counted(static_cast<std::uint64_t>(plan.rank_layout.num_ranks), "rank"),
                  counted(num_hosts, "host"));
  if (plan.ranks.size() < static_cast<std::size_t>(plan.rank_layout.num_ranks)) {
    text += fmt::format(", of which {} take part", plan.ranks.size());
  }
  if (plan.has_random && plan.ranks.size() % 2 == 1) text += "; in each random pattern one rests";
  return text + "\n";
}

std::string when_it_ends(const BisectionRequest& request) {
  std::string text;
  if (request.precision > 0) text += fmt::format(", until the 95 % interval is ± {:g} %", 100 * request.precision);
  if (request.time_limit_s > 0) text += fmt::format(", for {} at most", format_duration(request.time_limit_s));
  return text;
}

std::string what_is_measured(const BisectionRequest& request, const bench::bisection::Plan& plan) {
  std::string text;
  if (plan.has_random) {
    text += fmt::format("Random patterns: up to {} of each message size, seed {}, pairs {}{}\n", request.rounds,
                        request.seed, plan.participants.within_hosts ? "on any host" : "between hosts",
                        when_it_ends(request));
  }
  if (!plan.named.empty()) {
    text += fmt::format("Named patterns: {}, {} each\n", plan.named.size(),
                        request.repeat == 1 ? "once" : fmt::format("{} times", request.repeat));
  }
  if (request.num_worst_steps > 0) {
    text += fmt::format("Search for bad patterns: {}\n", counted(request.num_worst_steps, "step"));
  }
  text += "Message sizes:";
  for (const std::uint64_t size : request.message_sizes_bytes) text += " " + format_bytes(size) + ",";
  text.back() = '\n';
  text += fmt::format("Each pattern: {} after {} for warm-up", counted(request.num_exchanges, "timed exchange"),
                      request.num_warmup);
  if (request.verify) text += fmt::format(", {} verified", request.num_exchanges);
  if (plan.has_random && request.num_baseline_pairs > 0) {
    text += fmt::format("; behind each random one {} alone", counted(request.num_baseline_pairs, "pair"));
  }
  return text + "\n";
}

/// "0-5 1-3" for pairs, "0>1 1>2" where they differ.
std::string in_full(const schedule::Pattern& pattern) {
  std::string text;
  const auto num_ranks = static_cast<std::int32_t>(pattern.send_to.size());
  for (std::int32_t rank = 0; rank < num_ranks; ++rank) {
    const std::int32_t to = pattern.send_to[static_cast<std::size_t>(rank)];
    if (to == schedule::no_rank) continue;
    const bool is_pair = pattern.send_to[static_cast<std::size_t>(to)] == rank;
    if (is_pair && rank < to) text += fmt::format(" {}-{}", rank, to);
    if (!is_pair) text += fmt::format(" {}>{}", rank, to);
  }
  return text;
}

/// Of few ranks who plays with whom, of many the connection of the first that does not rest.
std::string pattern_line(const std::string& name, const schedule::Pattern& pattern) {
  if (pattern.send_to.size() <= most_ranks_in_full) return fmt::format("  {}:{}\n", name, in_full(pattern));
  const auto first = std::find_if(pattern.send_to.begin(), pattern.send_to.end(),
                                  [](std::int32_t to) { return to != schedule::no_rank; });
  return fmt::format("  {}: {}, the first from rank {} to {}\n", name,
                     counted(static_cast<std::uint64_t>(pattern.num_connections()), "connection"),
                     first - pattern.send_to.begin(), *first);
}

std::string first_patterns(const BisectionRequest& request, const bench::bisection::Plan& plan) {
  std::string text = "Patterns:\n";
  for (std::uint64_t index = 0; plan.has_random && index < std::min(request.rounds, num_random_shown); ++index) {
    text += pattern_line(fmt::format("random {}", index),
                         schedule::random_pattern(plan.participants, plan.ranks, request.seed, index));
  }
  for (std::size_t i = 0; i < std::min(plan.named.size(), most_patterns); ++i) {
    text += pattern_line(plan.named[i].name,
                         schedule::named_pattern(plan.named[i], plan.rank_layout.num_ranks, plan.ranks));
  }
  if (plan.named.size() > most_patterns) text += fmt::format("  ... and {} more\n", plan.named.size() - most_patterns);
  return text;
}

}  // namespace

std::string plus_minus(const Interval& interval, const Unit& unit) {
  if (!std::isfinite(interval.half_width)) return in_unit(interval.mean, unit);
  return fmt::format("{} ± {}", in_unit(interval.mean, unit), in_unit(interval.half_width, unit));
}

std::string share_text(double share) { return in_unit(share, Unit{}); }

double relative_width(const Interval& interval) { return interval.half_width / interval.mean; }

const BisectionSummary* summary_of(const BisectionResult& result, int size_index) {
  for (const BisectionSummary& summary : result.sizes) {
    if (summary.size_index == size_index && summary.num_patterns > 0) return &summary;
  }
  return nullptr;
}

bool has_random_patterns(const BisectionResult& result) {
  return std::any_of(result.sizes.begin(), result.sizes.end(),
                     [](const BisectionSummary& summary) { return summary.num_patterns > 0; });
}

Unit unit_of_bandwidths(const BisectionResult& result) {
  std::vector<double> bandwidths;
  for (const BisectionSummary& summary : result.sizes) bandwidths.push_back(summary.ebb.mean);
  if (std::isnan(middle_of(bandwidths))) {
    for (const PatternSummary& pattern : result.patterns) bandwidths.push_back(pattern.bytes_per_s_mean);
  }
  return bandwidth_unit(middle_of(bandwidths));
}

std::string bisection_plan_text(const BisectionRequest& request, const bench::bisection::Plan& plan) {
  std::string text = who_plays(plan) + what_is_measured(request, plan) + first_patterns(request, plan);
  const bench::bisection::Estimate& estimate = plan.estimate;
  text += estimate_head(estimate.assumption);
  text += fmt::format("  time      {}\n", format_duration(estimate.measuring_s));
  text += fmt::format("  memory    {} a rank for message buffers, {} a rank for tables\n",
                      about_bytes(estimate.buffer_bytes), about_bytes(estimate.table_bytes));
  text += fmt::format("  file      {}\n", about_bytes(estimate.file_bytes));
  return text;
}

}  // namespace leadline::output
