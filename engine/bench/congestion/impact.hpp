// SPDX-License-Identifier: Apache-2.0
// From the times of rounds, alone and under load, to impact factors and their intervals: pure functions.
#pragma once

#include <span>
#include <vector>

#include "bench/congestion/result.hpp"
#include "stats/time_histogram.hpp"

namespace leadline::bench::congestion {

/// What a round measured alone and, directly before or behind it, under load.
struct RoundTimes {
  stats::TimeHistogram alone, loaded;
};

/// A quantile is told where at least so many times lie beyond it, all rounds together.
inline constexpr double fewest_beyond = 10;

Times times_of(const stats::TimeHistogram& histogram);

/// All but cell, test and shared. Times are those of all rounds together. A factor is the median of those of rounds,
/// with the interval of that by order statistics, which holds whatever the distribution; NaN below
/// fewest_rounds_of_interval. Rounds that lack one of the two states do not count; a quantile is told where a time lies
/// beyond it in each round, too.
Impact impact_of(std::span<const RoundTimes> rounds);

}  // namespace leadline::bench::congestion
