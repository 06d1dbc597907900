// SPDX-License-Identifier: Apache-2.0
// How the connections of all random patterns of a message size are distributed; no rank holds them all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/bisection_result.hpp"

namespace leadline::bench::bisection {

/// Bytes a second, as BisectionSummary has them; NaN and no buckets where there is no connection.
struct Distribution {
  std::uint64_t num = 0;
  double min = std::numeric_limits<double>::quiet_NaN(), p01 = min, p05 = min, median = min, max = min;
  std::vector<TimeBucket> buckets;
};

/// Collective: the same on all ranks. `own_times_ns`: of this rank's connections, positive, in any order. Memory: a
/// copy of those and O(buckets).
Distribution distribution_over_ranks(cluster::Cluster& cluster, std::span<const double> own_times_ns,
                                     std::uint64_t message_size_bytes, std::uint32_t num_buckets);

}  // namespace leadline::bench::bisection
