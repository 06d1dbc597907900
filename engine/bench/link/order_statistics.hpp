// SPDX-License-Identifier: Apache-2.0
// Exact quantiles of numbers that are spread over all ranks, without bringing them together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/link_result.hpp"

namespace leadline::bench::link {

/// One rank's pair medians, sorted ascending, by class of pair. All positive and finite.
struct OwnMedians {
  std::vector<double> same_host, between_hosts;
};

struct ClassSummaries {
  PairSummary all, same_host, between_hosts;
};

/// Collective: the distribution over all ranks, the same on every rank. Memory: O(1) beside the input. A few dozen
/// small reductions: the wanted order statistics are narrowed down together, 16 ways at a time, on the bit patterns
/// of the numbers (which order positive doubles as their values do), so the result is exact.
ClassSummaries summarize_pairs(cluster::Cluster& cluster, const OwnMedians& own);

}  // namespace leadline::bench::link
