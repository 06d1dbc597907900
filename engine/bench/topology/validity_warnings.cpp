// SPDX-License-Identifier: Apache-2.0
// The rules that all benchmarks share, over the fastest exchange.
#include "bench/topology/validity_warnings.hpp"

#include <cmath>
#include <limits>

namespace leadline::bench::topology {

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
