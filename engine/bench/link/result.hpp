// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline link` leaves behind.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/link/request.hpp"
#include "model/diagnosis.hpp"
#include "model/fields.hpp"
#include "model/result.hpp"
#include "model/samples.hpp"

namespace leadline::bench::link {

/// One sweep over all rounds: one message size in one repeat.
struct Slice {
  int repeat = 0;        ///< 0-based
  int permutation = -1;  ///< index of the permutation of the ranks; -1 = ranks as they are
  int size_index = 0;    ///< into LinkRequest::message_sizes_bytes
  std::uint64_t message_size_bytes = 0;
};

/// Distribution of the pair medians of one class of pairs. Times in nanoseconds; NaN where there is no pair.
struct PairSummary {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  std::uint64_t num_pairs = 0;  ///< ordered pairs measured
  double time_ns_min = none, time_ns_mean = none, time_ns_max = none;
  double time_ns_p01 = none, time_ns_p05 = none, time_ns_p25 = none, time_ns_median = none, time_ns_p75 = none,
         time_ns_p95 = none, time_ns_p99 = none, time_ns_p999 = none;
  double median_interval_low_ns = none, median_interval_high_ns = none;  ///< 95 % interval of the median
};

/// Which quantiles are among them, ascending.
struct PairQuantile {
  double q;
  double PairSummary::*time_ns;
  const char* name;
};
inline constexpr std::array pair_quantiles{
    PairQuantile{0.01, &PairSummary::time_ns_p01, "p01"}, PairQuantile{0.05, &PairSummary::time_ns_p05, "p05"},
    PairQuantile{0.25, &PairSummary::time_ns_p25, "p25"}, PairQuantile{0.5, &PairSummary::time_ns_median, "median"},
    PairQuantile{0.75, &PairSummary::time_ns_p75, "p75"}, PairQuantile{0.95, &PairSummary::time_ns_p95, "p95"},
    PairQuantile{0.99, &PairSummary::time_ns_p99, "p99"}, PairQuantile{0.999, &PairSummary::time_ns_p999, "p99.9"},
};

/// All-to-all exchanges of a slice: each rank's median over the exchanges, spread over the ranks. Nanoseconds.
struct AllToAllSummary {
  std::uint64_t message_size_bytes = 0;
  Spread before, after;  ///< AllToAll::around
  Spread each_round;     ///< AllToAll::before_each_round: over ranks and rounds
};

struct SliceSummary {
  Slice slice;
  PairSummary all, same_host, between_hosts;
  AllToAllSummary all_to_all;
  Spread mean_time_ns;            ///< --like: over the pairs, of each the mean over all its messages
  Spread received_mean_time_ns;   ///< --shift: the same, by the clocks of those who receive
  Spread bisection_bytes_per_s;   ///< over the rounds of a bisection: the sum of its pairs' bandwidths
  std::vector<SlowPair> slowest;  ///< slowest first, at most --retest
  std::vector<SecondMeasurement> second_measurements;  ///< all: of the slowest, of others by chance, of suspects
  double measuring_s = 0;                              ///< rounds, retest and file
  double slowest_pairs_s = 0;  ///< sum over rounds of the longest loops of either half (warm-up and timed)
  double retest_s = 0;         ///< the retest's share of measuring_s
  std::optional<Diagnosis> diagnosis;
  double diagnosis_s = 0;  ///< beside measuring_s: the fit, and measuring suspects again
};

struct LinkResult : RunResult {
  LinkRequest request;
  std::int64_t num_rounds = 0;  ///< of one slice
  std::vector<SliceSummary> slices;
  std::vector<std::string> slow_pair_hosts;  ///< rank 0 only: from, to, from, to ... of all slices' slowest, in order
};

constexpr auto fields_of(Type<PairSummary> /*any*/) {
  return std::tuple{
      field("num_pairs", &PairSummary::num_pairs, "1", "ordered pairs measured: the sample size of all that follows"),
      field("time_ns_min", &PairSummary::time_ns_min, "ns", "fastest pair, time a message"),
      field("time_ns_p01", &PairSummary::time_ns_p01, "ns", "1 % quantile"),
      field("time_ns_p05", &PairSummary::time_ns_p05, "ns", "5 % quantile"),
      field("time_ns_p25", &PairSummary::time_ns_p25, "ns", "25 % quantile"),
      field("time_ns_median", &PairSummary::time_ns_median, "ns", "median"),
      field("time_ns_p75", &PairSummary::time_ns_p75, "ns", "75 % quantile"),
      field("time_ns_p95", &PairSummary::time_ns_p95, "ns", "95 % quantile"),
      field("time_ns_p99", &PairSummary::time_ns_p99, "ns", "99 % quantile"),
      field("time_ns_p999", &PairSummary::time_ns_p999, "ns", "99.9 % quantile", Since::later_version),
      field("time_ns_max", &PairSummary::time_ns_max, "ns", "slowest pair"),
      field("time_ns_mean", &PairSummary::time_ns_mean, "ns", "arithmetic mean of the medians"),
  };
}

}  // namespace leadline::bench::link
