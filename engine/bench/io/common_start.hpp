// SPDX-License-Identifier: Apache-2.0
// A moment at which all ranks begin, by the clock of each.
#pragma once

#include <cstdint>
#include <span>

#include "cluster/cluster.hpp"

namespace leadline::bench::io {

/// A rank's clock around a barrier.
struct BarrierReadings {
  std::uint64_t enter_ns = 0, exit_ns = 0;
};

/// By how much this rank's clock is ahead of the root's (negative: behind).
struct ClockOffset {
  std::int64_t ahead_ns = 0;
  std::uint64_t error_ns = 0;  ///< at most
};

/// From barriers that both were in, equally many. Nobody leaves a barrier before all have entered it, which bounds the
/// difference on both sides; the middle is wrong by half of the fastest barrier at most.
ClockOffset clock_offset(std::span<const BarrierReadings> own, std::span<const BarrierReadings> of_root);

/// A moment by this rank's clock, which others have within an error.
struct CommonStart {
  std::uint64_t at_ns = 0;
  std::uint64_t error_ns = 0;  ///< of this rank, at most
};

/// Collective: waits until a moment that the root chooses, the same for all. Ranks on the root's host have its clock,
/// others compare theirs with it over a few barriers. A rank that learns of the moment too late returns at once, with a
/// time that is over.
CommonStart await_common_start(cluster::Cluster& cluster);

}  // namespace leadline::bench::io
