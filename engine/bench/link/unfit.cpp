// SPDX-License-Identifier: Apache-2.0
// Rules for what makes a measurement unfit, one function each.
#include "bench/link/unfit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace leadline::bench::link {
namespace {

constexpr double max_clock_share = 0.05;  // of one message's time

std::optional<Finding> oversubscribed(const Conditions& conditions) {
  if (conditions.ranks_per_core_max <= 1) return std::nullopt;
  return Finding{"oversubscribed", Severity::warning,
                 "There are more ranks than cores: times contain waiting for a core.",
                 fmt::format("{:.3g} ranks a core on the fullest host; ranks wait by '{}'",
                             conditions.ranks_per_core_max, name_of(conditions.wait)),
                 "Start at most one rank a core, or read the result as a comparison only."};
}

std::optional<Finding> not_bound(const Conditions& conditions) {
  if (conditions.is_bound) return std::nullopt;
  return Finding{"not_bound", Severity::note, "Ranks are not bound to cores: times contain migrations.",
                 "every rank may run on all cores of its host",
                 "Bind them, for example mpirun --bind-to core or srun --cpu-bind=cores."};
}

std::optional<Finding> clock_too_coarse(const Conditions& conditions, const std::vector<SliceSummary>& slices) {
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (const SliceSummary& summary : slices) fastest_ns = std::fmin(fastest_ns, summary.all.time_ns_min);
  const double step_ns = std::max(conditions.clock.resolution_ns, conditions.clock.cost_ns);
  if (step_ns <= max_clock_share * fastest_ns) return std::nullopt;
  return Finding{"clock_too_coarse", Severity::warning,
                 "The clock is coarse against the fastest message: single batches of few messages are inexact.",
                 fmt::format("clock step {:.0f} ns, reading {:.0f} ns, fastest message {:.0f} ns",
                             conditions.clock.resolution_ns, conditions.clock.cost_ns, fastest_ns),
                 "Use more --messages or fewer --batches, so that a batch lasts at least a hundred clock steps."};
}

std::optional<Finding> loop_to_itself(const Conditions& conditions) {
  if (conditions.num_players > 1) return std::nullopt;
  return Finding{"loop_to_itself", Severity::note, "One rank only takes part: what was measured is its loop to itself.",
                 "1 rank", "Start two or more ranks to measure links."};
}

std::optional<Finding> simulated(const Conditions& conditions) {
  if (!conditions.simulated) return std::nullopt;
  return Finding{"simulated", Severity::note, "The times come from a model, not from hardware.", "transport 'model'",
                 "Use another --transport to measure."};
}

}  // namespace

std::vector<Finding> unfit(const Conditions& conditions, const std::vector<SliceSummary>& slices) {
  std::vector<Finding> findings;
  const auto add = [&findings](const std::optional<Finding>& finding) {
    if (finding) findings.push_back(*finding);
  };
  if (!conditions.simulated) {  // virtual time suffers from nothing that this machine does
    add(oversubscribed(conditions));
    add(clock_too_coarse(conditions, slices));
    add(not_bound(conditions));
  }
  add(loop_to_itself(conditions));
  add(simulated(conditions));
  return findings;
}

}  // namespace leadline::bench::link
