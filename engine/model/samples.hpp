// SPDX-License-Identifier: Apache-2.0
// What measuring leaves behind: timed batches, and one record per ordered pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/named.hpp"
#include "model/fields.hpp"
#include "stats/summary.hpp"

namespace leadline {

/// What a pair exchanges; the formulas are in docs/metrics.md.
enum class Direction : std::uint8_t {
  semidirectional,  ///< ping-pong; time is half a round trip
  unidirectional,   ///< a stream of windows, acknowledged once at its end
  bidirectional,    ///< both sides send at once
};

const char* name_of(Direction direction);
std::span<const Named<Direction>> names_of(Direction any);

/// One timed batch of consecutive messages to one partner.
struct Sample {
  std::uint64_t elapsed_ns = 0;
  std::uint64_t num_messages = 0;
};

/// What the messages of a batch count for when its time is divided; see docs/metrics.md.
enum class Path : std::uint8_t {
  to_partner,  ///< between two ranks
  to_self,     ///< one rank, the loop to itself: every message goes one way only
};

/// Time of one message in nanoseconds: elapsed / (2 n) for ping-pong between two ranks, elapsed / n otherwise.
double message_time_ns(const Sample& sample, Direction direction, Path path);

/// Bytes per second that a pair moves at this message time; both directions count where both are sent at once.
double bandwidth_bytes_per_s(double message_time_ns, std::uint64_t message_size_bytes, Direction direction);

/// Statistics of one ordered pair over its timed batches. Times are per message, in nanoseconds.
struct PairRecord {
  std::uint32_t count = 0;
  double time_ns_min = 0, time_ns_median = 0, time_ns_mean = 0, time_ns_p99 = 0, time_ns_p999 = 0, time_ns_max = 0;
};

/// Of a summary of times, or of a summary of factors of this time.
constexpr PairRecord pair_record(const stats::Summary& summary, double time_ns = 1) {
  return {.count = summary.count,
          .time_ns_min = time_ns * summary.min,
          .time_ns_median = time_ns * summary.median,
          .time_ns_mean = time_ns * summary.mean,
          .time_ns_p99 = time_ns * summary.p99,
          .time_ns_p999 = time_ns * summary.p999,
          .time_ns_max = time_ns * summary.max};
}

template <>
inline constexpr auto fields<PairRecord> = std::tuple{
    field("count", &PairRecord::count, "1", "timed batches"),
    field("time_ns_min", &PairRecord::time_ns_min, "ns", "time a message, fastest batch"),
    field("time_ns_median", &PairRecord::time_ns_median, "ns", "time a message, median of the batches"),
    field("time_ns_mean", &PairRecord::time_ns_mean, "ns", "time a message, mean over all messages"),
    field("time_ns_p99", &PairRecord::time_ns_p99, "ns", "time a message, 99th percentile of the batches"),
    field("time_ns_p999", &PairRecord::time_ns_p999, "ns", "time a message, 99.9th percentile of the batches",
          Since::later_version),
    field("time_ns_max", &PairRecord::time_ns_max, "ns", "time a message, slowest batch"),
};

/// One of the times of a record: `&PairRecord::time_ns_median`.
using PairTime = double PairRecord::*;

/// One rank's row of the matrix: what it measured towards every partner, in the slice under way.
/// A hole is 0, which no measured time can be.
using PairRow = Columns<PairRecord>;

/// An ordered pair with its time, for the list of the slowest.
struct SlowPair {
  std::uint32_t from = 0, to = 0;
  double time_ns = 0;         ///< median, under load (the main test)
  double retest_time_ns = 0;  ///< median, alone; 0 = not retested
};

/// An ordered pair that was measured again, for the verdict.
struct SecondMeasurement {
  std::uint32_t from = 0, to = 0;
  bool is_alone = true;  ///< or all other ranks measured, too
  double time_ns_median = 0, time_ns_mean = 0;
};

}  // namespace leadline
