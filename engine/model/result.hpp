// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline link` leaves behind; everything a person or a file sees is a function of it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/finding.hpp"
#include "model/provenance.hpp"
#include "model/request.hpp"
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

/// Least, mean and greatest of a number over ranks or rounds. Not measured: `num` is 0, the rest NaN.
struct Spread {
  std::uint64_t num = 0;
  double min = std::numeric_limits<double>::quiet_NaN(), mean = std::numeric_limits<double>::quiet_NaN(),
         max = std::numeric_limits<double>::quiet_NaN();
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
  std::vector<SlowPair> slowest;  ///< slowest first, at most --retest-slowest
  double measuring_s = 0;         ///< rounds, retest and file
  double slowest_pairs_s = 0;     ///< sum over rounds of the longest loops of either half (warm-up and timed)
  double retest_s = 0;            ///< the retest's share of measuring_s
};

/// Names of the hosts that take part and of the ranks on each ("0-3,8").
struct HostRanks {
  std::string host;
  std::string ranks;
};

struct LinkResult {
  LinkRequest request;
  Provenance provenance;
  std::int64_t num_rounds = 0;  ///< of one slice
  std::vector<SliceSummary> slices;
  std::vector<HostRanks> hosts;              ///< rank 0 only
  std::vector<std::string> slow_pair_hosts;  ///< rank 0 only: from, to, from, to ... of all slices' slowest, in order
  std::vector<Finding> findings;
  std::uint64_t verified_bytes = 0;  ///< over all ranks; 0 = no verification pass
  bool complete = false;
  std::string incomplete_reason;  ///< why not complete
};

}  // namespace leadline
