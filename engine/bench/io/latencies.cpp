// SPDX-License-Identifier: Apache-2.0
// Finds the bucket of a quantile and its place within.
#include "bench/io/latencies.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace leadline::bench::io {
namespace {

double lower_edge_ns(std::size_t bucket) { return std::exp2(10 + static_cast<double>(bucket) / 4); }

}  // namespace

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
