// SPDX-License-Identifier: Apache-2.0
// A few reductions: the slowest rank of each exchange, the rate of each rank, the times of all directions.
#include "bench/topology/summarize.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "bench/reductions.hpp"
#include "stats/slowest.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::topology {
namespace {

/// Both ranks of a channel count it.
struct ServedEnds {
  std::uint64_t num = 0, max_rank = 0;
};

ServedEnds merged_ends(const ServedEnds& a, const ServedEnds& b) {
  return {a.num + b.num, std::max(a.max_rank, b.max_rank)};
}

ServedChannels served_of(const ServedEnds& ends) {
  return {static_cast<std::int64_t>(ends.num / 2), static_cast<std::int32_t>(ends.max_rank)};
}

/// The values of one reduction.
struct Totals {
  stats::TimedPair slowest;  ///< time 0: none
  stats::Fairness fairness;  ///< of the rates of all directions
  std::uint64_t verified_bytes = 0;
  ServedEnds served;
};

Totals totals_of(int rank, std::uint64_t message_size_bytes, const CellSamples& samples) {
  Totals totals;
  totals.verified_bytes = samples.verified_bytes;
  totals.served = {samples.num_served, samples.num_served};
  for (std::size_t i = 0; i < samples.channels.size(); ++i) {
    const double time_ns = samples.arrival_ns[i];
    if (time_ns == 0) continue;
    totals.fairness.add(1e9 * static_cast<double>(message_size_bytes) / time_ns);
    const stats::TimedPair direction{static_cast<std::uint32_t>(samples.channels[i].partner),
                                     static_cast<std::uint32_t>(rank), time_ns};
    if (stats::is_slower(direction, totals.slowest)) totals.slowest = direction;
  }
  return totals;
}

Totals merged(Totals all, const Totals& more) {
  if (stats::is_slower(more.slowest, all.slowest)) all.slowest = more.slowest;
  all.fairness.merge(more.fairness);
  all.verified_bytes += more.verified_bytes;
  all.served = merged_ends(all.served, more.served);
  return all;
}

std::vector<double> own_times_ns(const CellSamples& samples) {
  std::vector<double> times_ns(samples.exchanges.size());
  if (samples.num_served == 0) return times_ns;  // a rank without channels has no time of an exchange
  std::transform(samples.exchanges.begin(), samples.exchanges.end(), times_ns.begin(),
                 [](const kernel::ExchangeSample& sample) { return static_cast<double>(sample.own_ns); });
  return times_ns;
}

std::vector<double> times_with_barrier_ns(const CellSamples& samples) {
  std::vector<double> times_ns(samples.exchanges.size());
  std::transform(samples.exchanges.begin(), samples.exchanges.end(), times_ns.begin(),
                 [](const kernel::ExchangeSample& sample) { return static_cast<double>(sample.with_barrier_ns); });
  return times_ns;
}

ExchangeTimes times_of_copy(std::vector<double> times_ns) { return times_of(times_ns); }

/// Collective: slowest, fastest and median of the rates of those ranks that have one; on the root.
void gather_rates(cluster::Cluster& cluster, double own_bytes_per_s, CellSummary& summary) {
  std::vector<RankRate> rates;
  const std::string_view text(reinterpret_cast<const char*>(&own_bytes_per_s), sizeof own_bytes_per_s);
  cluster.gather(text, [&](int rank, std::string_view packed) {
    RankRate rate{rank};
    std::memcpy(&rate.bytes_per_s, packed.data(), sizeof rate.bytes_per_s);
    if (!std::isnan(rate.bytes_per_s)) rates.push_back(rate);
  });
  if (rates.empty()) return;  // all ranks but the root
  // Of equal ones the lowest rank, at either end.
  summary.slowest_rank = *std::min_element(rates.begin(), rates.end(), [](const RankRate& a, const RankRate& b) {
    return a.bytes_per_s != b.bytes_per_s ? a.bytes_per_s < b.bytes_per_s : a.rank < b.rank;
  });
  summary.fastest_rank = *std::min_element(rates.begin(), rates.end(), [](const RankRate& a, const RankRate& b) {
    return a.bytes_per_s != b.bytes_per_s ? a.bytes_per_s > b.bytes_per_s : a.rank < b.rank;
  });
  std::vector<double> numbers;
  for (const RankRate& rate : rates) numbers.push_back(rate.bytes_per_s);
  summary.median_rank_bytes_per_s = stats::summarize(numbers).median;
}

/// Collective: the root's summary with the rates of all ranks, on all of them.
CellSummary with_rates(cluster::Cluster& cluster, double own_bytes_per_s, const CellSummary& own) {
  CellSummary all;
  cluster::repeat_for_new_root(cluster, [&](int /*root*/) {
    CellSummary at_root = own;
    gather_rates(cluster, own_bytes_per_s, at_root);
    all = value_of_root(cluster, at_root);
  });
  return all;
}

}  // namespace

ExchangeTimes times_of(std::span<double> times_ns) {
  ExchangeTimes times;
  if (times_ns.empty()) return times;
  const stats::Summary summary = stats::summarize(times_ns);
  const stats::OrderInterval interval = stats::median_interval(times_ns.size());
  times.num = times_ns.size();
  times.min = summary.min;
  times.median = summary.median;
  times.mean = summary.mean;
  times.p99 = summary.p99;
  times.max = summary.max;
  times.median_low = times_ns[interval.low];
  times.median_high = times_ns[interval.high];
  return times;
}

ServedChannels served_by_all(cluster::Cluster& cluster, std::size_t own_num) {
  return served_of(merged_over_ranks(cluster, ServedEnds{own_num, own_num},
                                     [](const ServedEnds& a, const ServedEnds& b) { return merged_ends(a, b); }));
}

CellNumbers summarize(cluster::Cluster& cluster, const Cell& cell, schedule::ChannelMode mode,
                      const CellSamples& samples) {
  CellNumbers numbers;
  CellSummary& summary = numbers.summary;
  summary.cell = cell;
  std::vector<double> own_ns = own_times_ns(samples);
  double own_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  if (samples.num_served > 0) {
    numbers.own = times_of_copy(own_ns);
    const auto num_messages = static_cast<double>(samples.num_served) * schedule::num_ways(mode);
    own_bytes_per_s = 1e9 * num_messages * static_cast<double>(cell.message_size_bytes) / numbers.own.median;
  }

  max_over_ranks(cluster, own_ns);
  const Totals totals = merged_over_ranks(cluster, totals_of(cluster.rank(), cell.message_size_bytes, samples), merged);
  numbers.verified_bytes = totals.verified_bytes;
  summary.served = served_of(totals.served);
  if (summary.served.num == 0) return numbers;

  numbers.slowest_rank_ns = std::move(own_ns);
  numbers.with_barrier_ns = times_with_barrier_ns(samples);
  summary.exchange = times_of_copy(numbers.slowest_rank_ns);
  summary.with_barrier = times_of_copy(numbers.with_barrier_ns);
  summary.fairness = totals.fairness.index();
  if (totals.slowest.time_ns > 0) {
    summary.slowest_channel = {static_cast<std::int32_t>(totals.slowest.from),
                               static_cast<std::int32_t>(totals.slowest.to), totals.slowest.time_ns};
  }
  summary = with_rates(cluster, own_bytes_per_s, summary);
  return numbers;
}

}  // namespace leadline::bench::topology
