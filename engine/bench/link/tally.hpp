// SPDX-License-Identifier: Apache-2.0
// The exchange between ranks at the end of a round: its numbers, whether rows are due, and whether anyone failed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "bench/link/result.hpp"
#include "cluster/cluster.hpp"
#include "core/error.hpp"
#include "model/result.hpp"

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

/// One rank's share, or the sum over all ranks. Plain data: it travels as bytes.
struct Tally {
  std::uint64_t num_pairs = 0;                                                                     ///< ordered pairs
  double time_ns_min = std::numeric_limits<double>::infinity(), time_ns_max = 0, time_ns_sum = 0;  ///< pair medians
  double bandwidth_bytes_per_s_sum = 0;                          ///< of the ordered pairs, each at its median
  double first_time_ns = 0, second_time_ns = 0;                  ///< greatest median of those who lead first, or second
  double slowest_first_half_ns = 0, slowest_second_half_ns = 0;  ///< longest loops, warm-up included
  std::uint64_t verified_bytes = 0;
  std::uint64_t has_lost_pairs = 0;  ///< any non-zero means that some rank has
  std::uint64_t rows_are_due = 0;    ///< the root decides; any non-zero means yes
  std::uint64_t time_is_over = 0;    ///< the same

  void add(double time_ns);
};

/// Least, mean and greatest of the numbers that were added.
Spread spread_of(const Tally& all);

/// Joins two spreads of one kind of number.
void widen(Spread& all, const Spread& more);

/// Collective: the sum of all shares, on all ranks; the barrier at the end of a round. If any rank brings an error,
/// every rank throws it as AgreedError (the lowest such rank's).
Tally close_round(cluster::Cluster& cluster, const Tally& own, const std::optional<Error>& own_error);

}  // namespace leadline::bench::link
