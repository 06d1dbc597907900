// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline link` leaves behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/diagnosis.hpp"
#include "model/link_request.hpp"
#include "model/result.hpp"
#include "model/samples.hpp"

namespace leadline {

/// One sweep over all rounds: one message size in one repeat.
struct Slice {
  int repeat = 0;        ///< 0-based
  int permutation = -1;  ///< index of the permutation of the ranks; -1 = ranks as they are
  int size_index = 0;    ///< into LinkRequest::message_sizes_bytes
  std::uint64_t message_size_bytes = 0;
};

/// Distribution of the pair medians of one class of pairs. Times in nanoseconds; NaN where there is no pair.
struct PairSummary {
  std::uint64_t num_pairs = 0;  ///< ordered pairs measured
  double time_ns_min = 0, time_ns_mean = 0, time_ns_max = 0;
  double time_ns_p01 = 0, time_ns_p05 = 0, time_ns_p25 = 0, time_ns_median = 0, time_ns_p75 = 0, time_ns_p95 = 0,
         time_ns_p99 = 0;
  double median_interval_low_ns = 0, median_interval_high_ns = 0;  ///< 95 % interval of the median
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
  Spread bisection_bytes_per_s;   ///< over the rounds of a bisection: the sum of its pairs' bandwidths
  std::vector<SlowPair> slowest;  ///< slowest first, at most --retest
  double measuring_s = 0;         ///< rounds, retest and file
  double slowest_pairs_s = 0;     ///< sum over rounds of the longest loops of either half (warm-up and timed)
  double retest_s = 0;            ///< the retest's share of measuring_s
  std::optional<Diagnosis> diagnosis;
  double diagnosis_s = 0;  ///< beside measuring_s: the fit, and measuring suspects again
};

struct LinkResult : RunResult {
  LinkRequest request;
  std::int64_t num_rounds = 0;  ///< of one slice
  std::vector<SliceSummary> slices;
  std::vector<std::string> slow_pair_hosts;  ///< rank 0 only: from, to, from, to ... of all slices' slowest, in order
};

}  // namespace leadline
