// SPDX-License-Identifier: Apache-2.0
// The slowest ordered pairs of a slice, and their second measurement without company.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/link/output.hpp"
#include "bench/link/pair_meter.hpp"
#include "cluster/cluster.hpp"
#include "model/link_result.hpp"
#include "model/samples.hpp"

namespace leadline::bench::link {

/// Collective: the `count` ordered pairs with the greatest medians over all rows, slowest first, on every rank.
std::vector<SlowPair> slowest_pairs(cluster::Cluster& cluster, const PairRow& row, std::size_t count);

/// Collective: measures each pair again, one after the other, while all other ranks wait without using their cores;
/// fills in retest_time_ns (the median), the same on every rank.
void retest(cluster::Cluster& cluster, PairMeter& meter, const Slice& slice, std::vector<SlowPair>& pairs,
            Progress* progress);

}  // namespace leadline::bench::link
