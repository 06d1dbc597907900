// SPDX-License-Identifier: Apache-2.0
// Writes the summary of a bisection test, part by part.
#include <fmt/format.h>

#include <string>

#include "output/bisection_numbers.hpp"
#include "output/bisection_patterns.hpp"
#include "output/bisection_sizes.hpp"
#include "output/bisection_slow.hpp"
#include "output/bisection_text.hpp"
#include "output/findings.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

std::string who_plays(const BisectionResult& result) {
  std::string text;
  const auto num_ranks = static_cast<std::uint64_t>(result.provenance.num_ranks);
  if (result.num_players != num_ranks) {
    text += fmt::format("{} of them take part, {} of each host at most\n", result.num_players,
                        result.request.active_ranks_per_host);
  }
  text += fmt::format("each pattern: {} after {} for warm-up", counted(result.request.num_exchanges, "timed exchange"),
                      result.request.num_warmup);
  if (!has_random_patterns(result)) return text + "\n";
  if (result.provenance.num_hosts > 1) {
    text += result.within_hosts ? "; random pairs, also on one host" : "; random pairs between hosts";
  }
  return text + fmt::format("; seed {}\n", result.request.seed);
}

std::string measured_in(const BisectionResult& result) {
  if (result.patterns.empty()) return "";
  const PatternSummary& last = result.patterns.back();
  return fmt::format("measured {} in {}\n", counted(result.patterns.size(), "pattern"),
                     format_duration(last.begin_s + last.measuring_s));
}

}  // namespace

std::string bisection_summary(const BisectionResult& result, const std::string& path) {
  std::string text = run_head(result) + who_plays(result) + simulated_line(result);
  const auto add_part = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add_part(sizes_text(result));
  add_part(histogram_text(result));
  add_part(named_patterns_text(result));
  add_part(worst_patterns_text(result));
  add_part(slow_components_text(result));
  add_part(slow_connections_text(result));
  add_part(findings_text(result.findings));
  add_part(measured_in(result) + run_tail(result, result.request.format, path));
  return text;
}

}  // namespace leadline::output
