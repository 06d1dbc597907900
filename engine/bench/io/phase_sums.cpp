// SPDX-License-Identifier: Apache-2.0
// One reduction a phase.
#include "bench/io/phase_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "bench/reductions.hpp"

namespace leadline::bench::io {
namespace {

/// Twice the length of the bins, half as many in use.
void coarsen(ByteSeries& series) {
  for (std::size_t i = 0; i < num_series_bins; ++i) {
    const bool is_used = 2 * i < num_series_bins;
    series.bytes[i] = is_used ? series.bytes[2 * i] + series.bytes[2 * i + 1] : 0;
  }
  series.bin_ns *= 2;
}

void add(ByteSeries& all, ByteSeries more) {
  while (all.bin_ns < more.bin_ns) coarsen(all);
  while (more.bin_ns < all.bin_ns) coarsen(more);
  for (std::size_t i = 0; i < num_series_bins; ++i) all.bytes[i] += more.bytes[i];
}

void add(storage::CacheState& all, const storage::CacheState& more) {
  all.is_known = all.is_known && more.is_known;
  all.pages += more.pages;
  all.cached += more.cached;
  all.dirty += more.dirty;
  all.writeback += more.writeback;
}

/// A rank that moves no bytes of files has no pages, and need not know anything of them.
storage::CacheState counted(storage::CacheState state, const RankPhase& own) {
  if (own.bytes == 0 && state.pages == 0) state.is_known = true;
  return state;
}

PhaseSums merged(PhaseSums all, const PhaseSums& more) {
  all.bytes += more.bytes;
  all.message_bytes += more.message_bytes;
  all.num_objects += more.num_objects;
  all.num_calls += more.num_calls;
  all.num_continued += more.num_continued;
  all.num_mismatches += more.num_mismatches;
  all.bytes_at_stop += more.bytes_at_stop;
  all.ramp_bytes += more.ramp_bytes;
  all.stop_ns = std::max(all.stop_ns, more.stop_ns);
  all.first_begin_ns = std::min(all.first_begin_ns, more.first_begin_ns);
  all.last_end_ns = std::max(all.last_end_ns, more.last_end_ns);
  all.first_done_ns = std::min(all.first_done_ns, more.first_done_ns);
  all.io.add(more.io);
  for (std::size_t i = 0; i < num_io_times; ++i) all.times[i].add(more.times[i]);
  all.transfer.add(more.transfer);
  all.filled_bytes += more.filled_bytes;
  all.verified_bytes += more.verified_bytes;
  all.making_ns += more.making_ns;
  all.checking_ns += more.checking_ns;
  for (std::size_t i = 0; i < num_latency_buckets; ++i) all.latencies[i] += more.latencies[i];
  all.call_ns_min = std::min(all.call_ns_min, more.call_ns_min);
  all.call_ns_max = std::max(all.call_ns_max, more.call_ns_max);
  add(all.series, more.series);
  add(all.cache_before, more.cache_before);
  add(all.cache_after, more.cache_after);
  all.num_with_bytes += more.num_with_bytes;
  return all;
}

/// As long as it took without what prepares and ends the transfer.
double transfer_ns(const RankPhase& own, SyncTiming sync) {
  double time_ns = own.io_ns - time_of(own, IoTime::open) - time_of(own, IoTime::preallocate);
  time_ns -= time_of(own, IoTime::close);
  if (sync == SyncTiming::inside) time_ns -= time_of(own, IoTime::sync);
  return time_ns;
}

double lower_edge_ns(std::size_t bucket) { return std::exp2(10 + static_cast<double>(bucket) / 4); }

}  // namespace

double time_of(const RankPhase& own, IoTime time) { return own.times_ns[static_cast<std::size_t>(time)]; }

void TimeSums::add(std::int32_t rank, double time_ns) { add(TimeSums{1, time_ns, time_ns, time_ns, rank, rank}); }

void TimeSums::add(const TimeSums& more) {
  num += more.num;
  sum += more.sum;
  if (more.min < min || (more.min == min && more.min_rank < min_rank)) min = more.min, min_rank = more.min_rank;
  if (more.max > max || (more.max == max && more.max_rank < max_rank)) max = more.max, max_rank = more.max_rank;
}

PhaseSums sums_of(int rank, const RankPhase& own, const IoRequest& request, double stop_ns) {
  PhaseSums sums;
  sums.stop_ns = stop_ns;
  if (own.bytes == 0 && own.num_objects == 0 && own.ramp_bytes == 0 && own.ramp_objects == 0) return sums;
  sums.bytes = own.bytes;
  sums.message_bytes = own.message_bytes;
  sums.num_objects = own.num_objects;
  sums.num_calls = own.num_calls;
  sums.num_continued = own.num_continued;
  sums.num_mismatches = own.num_mismatches;
  sums.bytes_at_stop = own.bytes_at_stop;
  sums.ramp_bytes = own.ramp_bytes;
  sums.first_begin_ns = own.begin_ns;
  // Ranks that share a file wait for the syncs of others, too.
  const bool is_without_sync = request.sync == SyncTiming::outside && own.done_ns > 0;
  const double end_without_sync_ns =  // whatever held the rank up between the two belongs to it
      std::max(own.done_ns + time_of(own, IoTime::close), own.begin_ns + own.io_ns);
  sums.last_end_ns = is_without_sync ? end_without_sync_ns : own.end_ns;
  if (own.done_ns > 0 && own.bytes > 0) sums.first_done_ns = own.done_ns;
  sums.io.add(rank, own.io_ns);
  for (std::size_t i = 0; i < num_io_times; ++i) {
    if (own.times_ns[i] > 0) sums.times[i].add(rank, own.times_ns[i]);
  }
  sums.transfer.add(rank, transfer_ns(own, request.sync));
  const std::uint64_t object_bytes = (own.num_objects + own.ramp_objects) * request.object_size_bytes;
  sums.making_ns = own.making_ns;
  sums.checking_ns = own.checking_ns;
  if (own.making_ns > 0) sums.filled_bytes = object_bytes;
  if (own.checking_ns > 0) sums.verified_bytes = object_bytes;
  sums.latencies = own.latencies;
  if (own.num_calls > 0) {
    sums.call_ns_min = own.call_ns_min;
    sums.call_ns_max = own.call_ns_max;
  }
  sums.series = own.series;
  sums.cache_before = counted(own.cache_before, own);
  sums.cache_after = counted(own.cache_after, own);
  sums.num_with_bytes = own.bytes > 0 ? 1 : 0;
  return sums;
}

std::uint64_t bytes_until(const RankPhase& own, double time_ns) {
  if (time_ns >= own.done_ns) return own.bytes;
  const auto bin_ns = static_cast<double>(own.series.bin_ns);
  double bytes = 0;
  for (std::size_t i = 0; i < num_series_bins; ++i) {
    const double begin_ns = static_cast<double>(i) * bin_ns;
    if (begin_ns >= time_ns) break;
    // Nothing was moved in what is left of the last bin.
    const double end_ns = std::min(begin_ns + bin_ns, std::max(own.done_ns, begin_ns + 1));
    bytes += static_cast<double>(own.series.bytes[i]) * std::min((time_ns - begin_ns) / (end_ns - begin_ns), 1.0);
  }
  return static_cast<std::uint64_t>(std::max(bytes - static_cast<double>(own.ramp_bytes), 0.0));
}

PhaseSums sum_of(cluster::Cluster& cluster, const PhaseSums& own) { return merged_over_ranks(cluster, own, merged); }

double latency_quantile_ns(const LatencyHistogram& latencies, double q, double min_ns, double max_ns) {
  const std::uint64_t num = std::accumulate(latencies.begin(), latencies.end(), std::uint64_t{0});
  if (num == 0) return not_measured;
  const double position = q * static_cast<double>(num - 1);  // as stats::quantile_position has it
  std::uint64_t num_before = 0;
  std::size_t bucket = 0;
  while (static_cast<double>(num_before + latencies[bucket]) <= position) num_before += latencies[bucket++];
  // The ends of the first and the last bucket are those of what is in them.
  const double low = bucket == 0 ? min_ns : std::max(min_ns, lower_edge_ns(bucket));
  const double high = bucket + 1 == latencies.size() ? max_ns : std::min(max_ns, lower_edge_ns(bucket + 1));
  const double share = (position - static_cast<double>(num_before) + 0.5) / static_cast<double>(latencies[bucket]);
  // A bucket's fastest is not below it, and its slowest not above it; the clock may say 0.
  if (!(low > 0 && high > low)) return std::clamp(low, min_ns, max_ns);
  return std::clamp(low * std::pow(high / low, std::min(share, 1.0)), min_ns, max_ns);
}

}  // namespace leadline::bench::io
