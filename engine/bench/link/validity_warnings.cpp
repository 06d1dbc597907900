// SPDX-License-Identifier: Apache-2.0
// The shared rules, and the loop of a rank to itself, which only a link test has.
#include "bench/link/validity_warnings.hpp"

#include <limits>

namespace leadline::bench::link {

std::vector<Finding> validity_warnings(const Conditions& conditions, int num_participants,
                                       const std::vector<SliceSummary>& slices) {
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (const SliceSummary& summary : slices) fastest_ns = std::fmin(fastest_ns, summary.all.time_ns_min);
  std::vector<Finding> findings = machine_validity_warnings(
      conditions, {fastest_ns, "fastest message", "single batches of few messages are inexact",
                   "Use more --messages or fewer --batches, so that a batch lasts at least a hundred "
                   "clock steps."});
  if (num_participants <= 1) {
    findings.push_back({"loop_to_itself", Severity::note,
                        "One rank only takes part: what was measured is its loop to itself.", "1 rank",
                        "Start two or more ranks to measure links."});
  }
  if (const auto finding = simulated(conditions)) findings.push_back(*finding);
  return findings;
}

}  // namespace leadline::bench::link
