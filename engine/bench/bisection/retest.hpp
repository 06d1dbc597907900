// SPDX-License-Identifier: Apache-2.0
// Pairs measured alone: those of a pattern as a baseline, and the suspected connections of a message size again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/bisection/output.hpp"
#include "bench/bisection/result.hpp"
#include "cluster/cluster.hpp"
#include "schedule/pattern.hpp"

namespace leadline::bench::bisection {

/// Collective: at most `count` connections of all ranks, slowest first, on all ranks alike: of those ranks whose
/// fastest connection is slowest this connection, half of all at most, and the slowest of all. What is slow only
/// because of others is fast with somebody. `own`: what this rank did in the random patterns of a size, by their
/// number. Of two ranks only one that was seen between them in either direction: it stands for both.
std::vector<SlowConnection> suspected_connections(cluster::Cluster& cluster, int size_index,
                                                  std::span<const RankTimes> own, std::size_t count);

struct AlonePair {
  std::int32_t from = schedule::no_rank, to = schedule::no_rank;
  bool operator==(const AlonePair&) const = default;
};

/// At most `num` different, randomly chosen pairs of a matching: on all ranks the same ones for the index-th random
/// pattern of a seed.
std::vector<AlonePair> draw_baseline_pairs(const schedule::Pattern& pattern, std::uint32_t num, std::uint64_t seed,
                                           std::uint64_t index);

}  // namespace leadline::bench::bisection
