// SPDX-License-Identifier: Apache-2.0
// Two small reductions a pattern.
#include "bench/bisection/tally.hpp"

#include <algorithm>

#include "bench/reductions.hpp"

namespace leadline::bench::bisection {
namespace {

Tally merged(Tally all, const Tally& more) {
  all.num_connections += more.num_connections;
  all.bytes_per_s_sum += more.bytes_per_s_sum;
  all.time_ns_sum += more.time_ns_sum;
  all.time_ns_min = std::min(all.time_ns_min, more.time_ns_min);
  if (stats::is_slower(more.slowest, all.slowest)) all.slowest = more.slowest;
  all.shortest_loop_ns = std::min(all.shortest_loop_ns, more.shortest_loop_ns);
  all.verified_bytes += more.verified_bytes;
  all.num_wrong += more.num_wrong;
  return all;
}

}  // namespace

double bytes_per_s(std::uint64_t message_size_bytes, double time_ns) {
  return 1e9 * static_cast<double>(message_size_bytes) / time_ns;
}

Tally tally_of(int rank, const Loop& loop, std::uint64_t message_size_bytes) {
  Tally tally;
  if (!sends(loop.route)) return tally;
  const double time_ns = loop.time_ns();
  tally.num_connections = 1;
  tally.bytes_per_s_sum = bytes_per_s(message_size_bytes, time_ns);
  tally.time_ns_sum = tally.time_ns_min = time_ns;
  tally.slowest = {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(loop.route.to), time_ns};
  tally.shortest_loop_ns = loop.own_ns;
  return tally;
}

Tally sum_of(cluster::Cluster& cluster, const Tally& own) { return merged_over_ranks(cluster, own, merged); }

Closing close_pattern(cluster::Cluster& cluster, const Closing& own) {
  struct Spoken {
    Closing closing;
    bool by_rank_0 = false;
  };
  return merged_over_ranks(cluster, Spoken{own, cluster.rank() == 0},
                           [](const Spoken& a, const Spoken& b) {
                             Spoken all = b.by_rank_0 ? b : a;
                             all.closing.full_load_bytes_per_s_sum =
                                 a.closing.full_load_bytes_per_s_sum + b.closing.full_load_bytes_per_s_sum;
                             return all;
                           })
      .closing;
}

double full_load_time_ns(const Loop& loop, std::uint64_t shortest_loop_ns) {
  if (rests(loop.route)) return 0;
  // A rank that only receives may be done before all those that send.
  const auto until_ns = static_cast<double>(std::min(shortest_loop_ns, loop.own_ns));
  return until_ns / exchanges_done(loop.step_ends_ns, until_ns);
}

PatternSummary summary_of(const PatternPosition& position, const Tally& all) {
  PatternSummary summary;
  summary.position = position;
  summary.num_connections = all.num_connections;
  if (all.num_connections == 0) return summary;
  const auto num = static_cast<double>(all.num_connections);
  const std::uint64_t size_bytes = position.message_size_bytes;
  summary.bytes_per_s_mean = all.bytes_per_s_sum / num;
  summary.time_ns_mean = all.time_ns_sum / num;
  summary.bytes_per_s_harmonic = bytes_per_s(size_bytes, summary.time_ns_mean);
  summary.bytes_per_s_min = bytes_per_s(size_bytes, all.slowest.time_ns);
  summary.bytes_per_s_max = bytes_per_s(size_bytes, all.time_ns_min);
  summary.slowest_from = static_cast<std::int32_t>(all.slowest.from);
  summary.slowest_to = static_cast<std::int32_t>(all.slowest.to);
  return summary;
}

}  // namespace leadline::bench::bisection
