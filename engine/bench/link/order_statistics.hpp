// SPDX-License-Identifier: Apache-2.0
// The distribution of pair medians over all ranks, by class of pair.
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

/// Collective: the distribution over all ranks, the same on every rank. Memory: O(1) beside the input. See
/// bench/order_statistics.hpp for how.
ClassSummaries summarize_pairs(cluster::Cluster& cluster, const OwnMedians& own);

}  // namespace leadline::bench::link
