// SPDX-License-Identifier: Apache-2.0
// What the ranks measure in a phase, and the sum of it over all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "bench/congestion/result.hpp"
#include "stats/summary.hpp"
#include "stats/time_histogram.hpp"

namespace leadline::bench::congestion {

/// How many latency messages after the end of a load took longer than nine of ten do alone, by when they were due.
struct Recovery {
  static constexpr std::size_t num_bins = 50;  ///< of the time of a test
  static constexpr double usual_quantile = 0.9;
  static constexpr double most_share = 0.25;  ///< longer ones, of a bin in which the network has recovered

  std::array<std::uint64_t, num_bins> num{}, num_long{};

  void merge(const Recovery& others);

  /// Where the last bin ends that has more than that, as a share of the time of a test; 0 where none has. NaN where
  /// that is the last of all, or nothing was measured.
  double until() const;
};

using TimesOfTests = std::array<std::array<stats::TimeHistogram, num_shared>, num_tests>;

struct PhaseTotals {
  TimesOfTests times;
  stats::Fairness load;  ///< bytes a second of each rank that sends
  Recovery recovery;

  /// As if all of the others had been measured here.
  void merge(const PhaseTotals& others);

  std::string packed() const;
  static PhaseTotals unpacked(std::string_view text);
};

}  // namespace leadline::bench::congestion
