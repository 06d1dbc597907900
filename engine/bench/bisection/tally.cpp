// SPDX-License-Identifier: Apache-2.0
// Two small reductions a pattern.
#include "bench/bisection/tally.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "bench/reductions.hpp"
#include "stats/summary.hpp"

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

constexpr std::array quantiles{0.01, 0.05, 0.50};

struct Extremes {
  double min = std::numeric_limits<double>::infinity(), max = 0;
  std::uint64_t num = 0;
};

Extremes extremes_over_ranks(cluster::Cluster& cluster, std::span<const double> values) {
  Extremes own;
  for (const double value : values) own = {std::min(own.min, value), std::max(own.max, value), own.num + 1};
  return merged_over_ranks(cluster, own, [](const Extremes& a, const Extremes& b) {
    return Extremes{std::min(a.min, b.min), std::max(a.max, b.max), a.num + b.num};
  });
}

/// Of all ranks' numbers, by linear interpolation between neighbours (stats/summary.hpp).
std::array<double, quantiles.size()> quantiles_over_ranks(cluster::Cluster& cluster, std::span<const double> sorted,
                                                          const Extremes& all) {
  std::vector<OrderStatistic> wanted;
  for (const double q : quantiles) {
    const stats::QuantilePosition position = stats::quantile_position(all.num, q);
    wanted.push_back({0, position.low, all.min, all.max});
    wanted.push_back({0, position.high, all.min, all.max});
  }
  const std::vector<double> found =
      order_statistics(cluster, wanted, [&](std::size_t, double bound) { return count_up_to(sorted, bound); });
  std::array<double, quantiles.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double fraction = stats::quantile_position(all.num, quantiles[i]).fraction;
    values[i] = found[2 * i] + (found[2 * i + 1] - found[2 * i]) * fraction;
  }
  return values;
}

std::vector<TimeBucket> buckets_over_ranks(cluster::Cluster& cluster, std::span<const double> times_ns,
                                           const Extremes& all, std::uint32_t num_buckets) {
  std::vector<double> edges_ns;
  for (std::uint32_t i = 0; i < num_buckets; ++i) edges_ns.push_back(all.min + (all.max - all.min) * i / num_buckets);
  edges_ns.push_back(all.max);
  std::vector<std::uint64_t> counts(num_buckets);
  for (const double time_ns : times_ns) {
    const auto num_begun = std::upper_bound(edges_ns.begin(), edges_ns.end() - 1, time_ns) - edges_ns.begin();
    ++counts[static_cast<std::size_t>(num_begun - 1)];
  }
  sum_over_ranks(cluster, counts);
  std::vector<TimeBucket> buckets;
  for (std::uint32_t i = 0; i < num_buckets; ++i) buckets.push_back({edges_ns[i], edges_ns[i + 1], counts[i]});
  return buckets;
}

}  // namespace

double bytes_per_s(std::uint64_t message_size_bytes, double time_ns) {
  return 1e9 * static_cast<double>(message_size_bytes) / time_ns;
}

Tally tally_of(int rank, const Loop& loop, std::uint64_t message_size_bytes) {
  Tally tally;
  if (!receives(loop.route)) return tally;
  const double time_ns = loop.time_ns();
  tally.num_connections = 1;
  tally.bytes_per_s_sum = bytes_per_s(message_size_bytes, time_ns);
  tally.time_ns_sum = tally.time_ns_min = time_ns;
  tally.slowest = {static_cast<std::uint32_t>(loop.route.from), static_cast<std::uint32_t>(rank), time_ns};
  tally.shortest_loop_ns = loop.own_ns;
  return tally;
}

Tally sum_of(cluster::Cluster& cluster, const Tally& own) { return merged_over_ranks(cluster, own, merged); }

Closing close_pattern(cluster::Cluster& cluster, const Closing& own) {
  struct Spoken {
    Closing closing;
    bool by_root = false;
  };
  return merged_over_ranks(cluster, Spoken{own, cluster.is_root()},
                           [](const Spoken& a, const Spoken& b) {
                             Spoken all = b.by_root ? b : a;
                             all.closing.full_load_bytes_per_s_sum =
                                 a.closing.full_load_bytes_per_s_sum + b.closing.full_load_bytes_per_s_sum;
                             return all;
                           })
      .closing;
}

double full_load_time_ns(const Loop& loop, std::uint64_t shortest_loop_ns) {
  if (!receives(loop.route)) return 0;
  const auto until_ns = static_cast<double>(shortest_loop_ns);
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

Distribution distribution_over_ranks(cluster::Cluster& cluster, std::span<const double> own_times_ns,
                                     std::uint64_t message_size_bytes, std::uint32_t num_buckets) {
  std::vector<double> rates;
  rates.reserve(own_times_ns.size());
  for (const double time_ns : own_times_ns) rates.push_back(bytes_per_s(message_size_bytes, time_ns));
  std::sort(rates.begin(), rates.end());

  Distribution distribution;
  const Extremes all = extremes_over_ranks(cluster, rates);
  distribution.num = all.num;
  if (all.num == 0) return distribution;
  const auto [p01, p05, median] = quantiles_over_ranks(cluster, rates, all);
  distribution.min = all.min;
  distribution.p01 = p01;
  distribution.p05 = p05;
  distribution.median = median;
  distribution.max = all.max;
  if (num_buckets > 0) {
    distribution.buckets =
        buckets_over_ranks(cluster, own_times_ns, extremes_over_ranks(cluster, own_times_ns), num_buckets);
  }
  return distribution;
}

}  // namespace leadline::bench::bisection
