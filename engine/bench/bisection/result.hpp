// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline bisection` leaves behind.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/bisection/request.hpp"
#include "core/named.hpp"
#include "model/diagnosis.hpp"
#include "model/result.hpp"

namespace leadline::bench::bisection {

enum class PatternKind : std::uint8_t {
  random,
  named,
  worst,  ///< a step of the search for bad patterns
};

const char* name_of(PatternKind kind);
std::span<const Named<PatternKind>> names_of(PatternKind any);

/// A pattern measured with one message size.
struct PatternPosition {
  int size_index = 0;  ///< into the request's message sizes
  std::uint64_t message_size_bytes = 0;
  std::uint64_t number = 0;  ///< 0-based, of this size: the pattern's column in the file
  PatternKind kind = PatternKind::random;
  std::uint64_t index = 0;  ///< random: the number that replays it; named: into the plan's list; worst: the step
  int repeat = 0;           ///< named
  std::string name;         ///< "random", "shift:3", "worst"
};

/// A connection is a directed pair: every rank that receives has one, and the time that counts is the receiver's own,
/// of one message: elapsed / messages. Its bandwidth is message size / time. Bytes a second; NaN where nothing was
/// measured.
struct PatternSummary {
  PatternPosition position;
  std::uint64_t num_connections = 0;
  double bytes_per_s_mean = std::numeric_limits<double>::quiet_NaN();      ///< arithmetic, over connections
  double bytes_per_s_harmonic = std::numeric_limits<double>::quiet_NaN();  ///< message size / mean time
  double bytes_per_s_min = std::numeric_limits<double>::quiet_NaN();
  double bytes_per_s_max = std::numeric_limits<double>::quiet_NaN();
  /// Mean over connections of what each moved until the first of all was done, in that time: while all were under way.
  double bytes_per_s_full_load = std::numeric_limits<double>::quiet_NaN();
  double time_ns_mean = std::numeric_limits<double>::quiet_NaN();  ///< of one message
  std::int32_t slowest_from = -1, slowest_to = -1;                 ///< the connection with bytes_per_s_min
  bool accepted = false;  ///< worst: the search went on from this pattern: the first, or one worse than those before
  double begin_s = 0;     ///< since the first pattern began
  double measuring_s = 0;
};

/// A pair of ranks measured while all others rested, directly after a pattern in which it was.
struct BaselineSample {
  int size_index = 0;
  std::uint64_t number = 0;  ///< the pattern's
  std::int32_t from = -1, to = -1;
  double time_ns = std::numeric_limits<double>::quiet_NaN();  ///< mean of both ends' own, of one exchange
};

/// Why there are no more random patterns of a size.
enum class StopReason : std::uint8_t { not_stopped, precision, rounds, time_limit };

const char* name_of(StopReason reason);
std::span<const Named<StopReason>> names_of(StopReason any);

/// "mean ± half_width"; see stats/interval.hpp. num: independent samples.
struct Interval {
  std::uint64_t num = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double half_width = std::numeric_limits<double>::quiet_NaN();
};

/// How many connections took low_ns to high_ns, of random patterns; the last bucket holds high_ns, too.
struct TimeBucket {
  double low_ns = 0, high_ns = 0;
  std::uint64_t num = 0;
};

/// One message size over its random patterns. Bytes a second.
struct BisectionSummary {
  int size_index = 0;
  std::uint64_t message_size_bytes = 0;
  std::uint64_t num_patterns = 0, num_connections = 0;
  StopReason stopped_by = StopReason::not_stopped;
  Interval ebb;        ///< 95 %, of bytes_per_s_mean over patterns: effective bisection bandwidth as published
  Interval full_load;  ///< likewise of bytes_per_s_full_load
  Interval baseline;   ///< of pairs alone
  /// What hosts and links make of pairs alone: their bandwidth over that of the fastest pair alone.
  Interval static_share;
  /// What the load makes of a pair: its bandwidth in the pattern over that alone, of the same pairs.
  Interval contention_share;
  double tail = std::numeric_limits<double>::quiet_NaN();                  ///< bytes_per_s_median / bytes_per_s_p01
  double bytes_per_s_harmonic = std::numeric_limits<double>::quiet_NaN();  ///< message size / mean time: Netgauge's
  /// Over all connections of all patterns.
  double bytes_per_s_min = std::numeric_limits<double>::quiet_NaN(), bytes_per_s_p01 = bytes_per_s_min,
         bytes_per_s_p05 = bytes_per_s_min, bytes_per_s_median = bytes_per_s_min, bytes_per_s_max = bytes_per_s_min;
  std::vector<TimeBucket> buckets;
  double measuring_s = 0;
};

/// A connection of random patterns that was measured again, and what came of that.
struct SlowConnection {
  int size_index = 0;
  std::uint64_t number = 0;  ///< of the pattern it was seen in
  std::int32_t from = -1, to = -1;
  double time_ns = 0;                                               ///< under load
  double alone_time_ns = std::numeric_limits<double>::quiet_NaN();  ///< NaN = not measured
  bool slow_alone =
      false;  ///< below (1 - threshold) of the median connection, or of the median pair alone; else together
};

struct BisectionResult : RunResult {
  BisectionRequest request;
  std::vector<std::string> pattern_names;  ///< of the named patterns, in the order of the plan
  std::uint64_t num_participants = 0;
  bool within_hosts = false;             ///< as in the request, or since there is only one host
  std::vector<PatternSummary> patterns;  ///< in the order in which they were measured
  std::vector<BaselineSample> baseline;
  std::vector<BisectionSummary> sizes;
  std::vector<SlowConnection> slow_connections;  ///< slowest first, size by size
  std::vector<DiagnosedSlice> diagnoses;         ///< of random patterns, size by size
};

}  // namespace leadline::bench::bisection
