// SPDX-License-Identifier: Apache-2.0
// The median over rounds of a ratio.
#include "bench/congestion/impact.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "stats/summary.hpp"

namespace leadline::bench::congestion {
namespace {

using stats::TimeHistogram;

constexpr double mean_of_all = -1;  // in place of a share

/// What factors are told of.
struct Statistic {
  double q;
  Factor Impact::*factor;
};
constexpr std::array<Statistic, 4> statistics{
    {{mean_of_all, &Impact::mean}, {0.5, &Impact::median}, {0.99, &Impact::p99}, {0.999, &Impact::p999}}};

/// Whether at least so many times lie beyond it.
bool has_beyond(const TimeHistogram& histogram, double q, double fewest) {
  return q == mean_of_all || static_cast<double>(histogram.num()) * (1 - q) >= fewest;
}

double value_of(const TimeHistogram& histogram, double q) {
  return q == mean_of_all ? histogram.mean_ns() : histogram.quantile_ns(q);
}

double told(const TimeHistogram& histogram, double q) {
  return has_beyond(histogram, q, fewest_beyond) ? value_of(histogram, q) : std::nan("");
}

bool is_told(const RoundTimes& all, std::span<const RoundTimes* const> rounds, double q) {
  constexpr double fewest_of_round = 0.999;  // one, whatever the rounding of 1 - q
  const auto has = [&](const RoundTimes& times, double fewest) {
    return has_beyond(times.alone, q, fewest) && has_beyond(times.loaded, q, fewest);
  };
  return has(all, fewest_beyond) &&
         std::ranges::all_of(rounds, [&](const RoundTimes* round) { return has(*round, fewest_of_round); });
}

/// Of ratios of rounds, at least one.
Factor factor_of(std::vector<double> ratios) {
  std::ranges::sort(ratios);
  Factor factor;
  factor.estimate = stats::quantile_of_sorted(ratios, 0.5);
  if (ratios.size() < fewest_rounds_of_interval) return factor;
  const stats::OrderInterval interval = stats::median_interval(ratios.size());
  factor.low = ratios[interval.low];
  factor.high = ratios[interval.high];
  return factor;
}

}  // namespace

Times times_of(const TimeHistogram& histogram) {
  return {histogram.num(),       histogram.mean_ns(),    told(histogram, 0.5),
          told(histogram, 0.99), told(histogram, 0.999), histogram.max_ns()};
}

Impact impact_of(std::span<const RoundTimes> rounds) {
  RoundTimes all;
  std::vector<const RoundTimes*> counted;
  for (const RoundTimes& round : rounds) {
    if (round.alone.num() == 0 || round.loaded.num() == 0) continue;
    counted.push_back(&round);
    all.alone.merge(round.alone);
    all.loaded.merge(round.loaded);
  }
  Impact impact;
  impact.num_rounds = static_cast<std::uint32_t>(counted.size());
  impact.alone = times_of(all.alone);
  impact.loaded = times_of(all.loaded);
  for (const auto& [q, factor] : statistics) {
    if (counted.empty() || !is_told(all, counted, q)) continue;
    std::vector<double> ratios;
    for (const RoundTimes* const round : counted) {
      ratios.push_back(value_of(round->loaded, q) / value_of(round->alone, q));
    }
    impact.*factor = factor_of(std::move(ratios));
  }
  return impact;
}

}  // namespace leadline::bench::congestion
