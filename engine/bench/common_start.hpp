// SPDX-License-Identifier: Apache-2.0
// A moment at which all ranks begin, by the clock of each.
#pragma once

#include <cstdint>
#include <span>

#include "cluster/cluster.hpp"

namespace leadline::bench {

/// A rank's clock around a barrier.
struct BarrierReadings {
  std::uint64_t enter_ns = 0, exit_ns = 0;
};

/// By how much this rank's clock is ahead of the root's (negative: behind), from barriers that both were in, equally
/// many. Nobody leaves a barrier before all have entered it, which bounds the difference on both sides; the middle is
/// wrong by half of the fastest barrier at most.
std::int64_t clock_ahead_ns(std::span<const BarrierReadings> own, std::span<const BarrierReadings> of_root);

/// Collective: waits until a moment that the root chooses, the same for all, and returns what this rank's clock says
/// then. Ranks on the root's host have its clock, others compare theirs with it over a few barriers. A rank that learns
/// of the moment too late returns at once, with a time that is over.
std::uint64_t await_common_start(cluster::Cluster& cluster);

}  // namespace leadline::bench
