// SPDX-License-Identifier: Apache-2.0
// The exchange between ranks after a pattern: what each measured, and what the root has decided.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bench/bisection/exchange_loop.hpp"
#include "bench/bisection/result.hpp"
#include "cluster/cluster.hpp"
#include "stats/slowest.hpp"

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

/// One rank's share of a pattern, or the sum over all. Plain data: it travels as bytes.
struct Tally {
  std::uint64_t num_connections = 0;
  double bytes_per_s_sum = 0, time_ns_sum = 0;
  double time_ns_min = std::numeric_limits<double>::infinity();
  stats::TimedPair slowest;                                                    ///< time 0: none
  std::uint64_t shortest_loop_ns = std::numeric_limits<std::uint64_t>::max();  ///< of ranks that receive
  std::uint64_t verified_bytes = 0;
  std::uint64_t num_wrong = 0;  ///< ranks that have seen a wrong byte
};

/// Of this rank; nothing where it does not receive.
Tally tally_of(int rank, const Loop& loop, std::uint64_t message_size_bytes);

/// Collective: the sum of all shares, on all ranks.
Tally sum_of(cluster::Cluster& cluster, const Tally& own);

/// The decision of the root after a pattern.
struct RootDecision {
  StopReason stop = StopReason::not_stopped;  ///< whether there are more random patterns
  bool time_is_over = false;                  ///< for this message size
  bool rows_are_due = false;
};

/// As above, once the length of the shortest loop is known.
struct Closing {
  double full_load_bytes_per_s_sum = 0;
  RootDecision word;  ///< only the root's counts; where that is lost, any
};

/// Collective: the sum, and the root's decision, on all ranks.
Closing close_pattern(cluster::Cluster& cluster, const Closing& own);

/// Time of one message until the shortest of all loops was over: what a rank received by then, in that time; 0 where it
/// receives nothing.
double full_load_time_ns(const Loop& loop, std::uint64_t shortest_loop_ns);

double bytes_per_s(std::uint64_t message_size_bytes, double time_ns);

/// The summary of a pattern from the first sum.
PatternSummary summary_of(const PatternPosition& position, const Tally& all);

}  // namespace leadline::bench::bisection
