// SPDX-License-Identifier: Apache-2.0
// The slowest connections of a message size: found by merging short lists up the tree, to be measured alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/bisection/output.hpp"
#include "cluster/cluster.hpp"
#include "model/bisection_result.hpp"

namespace leadline::bench::bisection {

/// Collective: the `count` slowest connections of all ranks, slowest first, on all ranks alike. `own`: what this rank
/// did in the random patterns of a size, by their number. Of two ranks only the slowest that was seen between them in
/// either direction: it stands for both.
std::vector<SlowConnection> slowest_connections(cluster::Cluster& cluster, int size_index,
                                                std::span<const RankTimes> own, std::size_t count);

}  // namespace leadline::bench::bisection
