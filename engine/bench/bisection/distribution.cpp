// SPDX-License-Identifier: Apache-2.0
// Extremes first, then quantiles by a search on counts, then the counts of the buckets.
#include "bench/bisection/distribution.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "bench/bisection/tally.hpp"
#include "bench/order_statistics.hpp"
#include "bench/reductions.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::bisection {
namespace {

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
