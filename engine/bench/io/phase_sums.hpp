// SPDX-License-Identifier: Apache-2.0
// The sums of a phase over ranks, and quantiles of its histograms of latencies.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "cluster/cluster.hpp"

namespace leadline::bench::io {

/// A time of the ranks that have one.
struct TimeSums {
  std::uint64_t num = 0;
  double sum = 0, min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  std::int32_t min_rank = -1, max_rank = -1;

  void add(std::int32_t rank, double time_ns);
  void add(const TimeSums& more);  ///< of equal times the lowest rank's counts, whatever the order
};

/// One rank's share, or that of several. Plain data: it travels as bytes.
struct PhaseSums {
  std::uint64_t bytes = 0, message_bytes = 0, num_objects = 0, num_calls = 0, num_continued = 0, num_mismatches = 0;
  std::uint64_t bytes_at_stop = 0, ramp_bytes = 0;
  double stop_ns = 0;
  double first_begin_ns = std::numeric_limits<double>::infinity(), last_end_ns = 0;  ///< of what is reported
  double first_done_ns = std::numeric_limits<double>::infinity();
  TimeSums io;
  std::array<TimeSums, num_io_times> times;
  TimeSums transfer;  ///< I/O time without opening, preallocating, syncing and closing
  std::uint64_t filled_bytes = 0, verified_bytes = 0;
  double making_ns = 0, checking_ns = 0;
  LatencyHistogram latencies{};
  double call_ns_min = std::numeric_limits<double>::infinity(), call_ns_max = 0;
  ByteSeries series;
  storage::CacheState cache_before{true}, cache_after{true};  ///< known: of all ranks that have any
  std::uint64_t num_with_bytes = 0;                           ///< ranks
};

double time_of(const RankPhase& own, IoTime time);

PhaseSums sums_of(int rank, const RankPhase& own, const IoRequest& request, double stop_ns);

/// Local: what a rank had moved by a time since the common start, by its series; without that of a ramp.
std::uint64_t bytes_until(const RankPhase& own, double time_ns);

/// Collective: of all ranks, on all ranks.
PhaseSums sum_of(cluster::Cluster& cluster, const PhaseSums& own);

/// The q-quantile (0 <= q <= 1) of calls whose least and greatest latency are known: by logarithm between the edges of
/// its bucket, as if the bucket's calls were spread evenly; never outside min to max. NaN without calls.
double latency_quantile_ns(const LatencyHistogram& latencies, double q, double min_ns, double max_ns);

}  // namespace leadline::bench::io
