// SPDX-License-Identifier: Apache-2.0
// A cell in numbers: what all ranks measured, brought together without any rank holding it all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/topology/result.hpp"
#include "cluster/cluster.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

/// The distribution of these times. Sorts them.
ExchangeTimes times_of(std::span<double> times_ns);

/// What this rank measured in a cell.
struct CellSamples {
  std::span<const kernel::ExchangeSample> exchanges;  ///< equally many on all ranks
  std::span<const schedule::Channel> channels;
  std::size_t num_served = 0;          ///< of the channels: all but those to lost partners
  std::span<const double> arrival_ns;  ///< by channel; 0 = not measured, or nothing arrives
  std::uint64_t verified_bytes = 0;
};

struct CellNumbers {
  CellSummary summary;                  ///< the same on all ranks; measuring_s is the caller's
  ExchangeTimes own;                    ///< this rank's; none where it has no channels
  std::vector<double> with_barrier_ns;  ///< by this rank's clock: every exchange, in order; none without any channel
  std::vector<double> slowest_rank_ns;  ///< the same on all ranks; likewise
  std::uint64_t verified_bytes = 0;     ///< over all ranks
};

/// Collective. Memory: O(exchanges) beside the input, on the root O(ranks) more.
CellNumbers summarize(cluster::Cluster& cluster, const Cell& cell, schedule::ChannelMode mode,
                      const CellSamples& samples);

/// Collective: of so many channels that each rank serves.
ServedChannels served_by_all(cluster::Cluster& cluster, std::size_t own_num);

}  // namespace leadline::bench::topology
