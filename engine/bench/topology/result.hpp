// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline topology` leaves behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/topology/request.hpp"
#include "model/result.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

/// What the rates of a topology follow from.
struct TopologyFacts {
  std::string name;  ///< "star2", "torus:4x4"
  schedule::Shape shape = schedule::Shape::complete;
  schedule::ChannelMode mode = schedule::ChannelMode::both_ways;
  std::int64_t num_channels = 0;       ///< N
  std::int32_t max_channels_rank = 0;  ///< of the busiest rank; a star's centre
  std::vector<std::int32_t> extents;   ///< torus only
};

/// One topology with one message size in one repeat.
struct Cell {
  int topology_index = 0;  ///< into TopologyResult::topologies
  int size_index = 0;      ///< into the request's message sizes
  int repeat = 0;          ///< 0-based
  std::uint64_t message_size_bytes = 0;
};

/// Distribution over the timed exchanges of a cell, nanoseconds. `num` 0: not measured, the rest NaN.
struct ExchangeTimes {
  std::uint64_t num = 0;
  double min = std::numeric_limits<double>::quiet_NaN(), median = min, mean = min, p99 = min, max = min;
  double median_low = min, median_high = min;  ///< 95 % interval of the median
};

/// Rates in bytes a second; see docs/metrics.md. NaN where the time is.
struct Rates {
  double local = 0, total = 0, average = 0;
};

/// The channels over which messages went: all of a topology, but for those of ranks and pairs that were lost.
struct ServedChannels {
  std::int64_t num = 0;
  std::int32_t max_rank = 0;  ///< of the busiest rank
};

/// With ways = 1 or 2 messages a channel: local = ways * size * served.max_rank / T (the bytes that the busiest rank
/// sends and receives), total = ways * size * served.num / T, average = ways * size / T. Reference: docs/history.md,
/// NETTEST.
Rates rates_of(const TopologyFacts& topology, const ServedChannels& served, std::uint64_t message_size_bytes,
               double time_ns);

/// A rank and its own rate: bytes that it sends and receives in an exchange by the median of its own time for it,
/// without the closing barrier.
struct RankRate {
  std::int32_t rank = -1;
  double bytes_per_s = std::numeric_limits<double>::quiet_NaN();
};

/// One direction of a channel: how long after the beginning of an exchange its last message arrives, the median over
/// the traced exchanges.
struct ChannelTime {
  std::int32_t from = -1, to = -1;
  double time_ns = std::numeric_limits<double>::quiet_NaN();
};

struct CellSummary {
  Cell cell;
  ServedChannels served;
  ExchangeTimes with_barrier;  ///< the root's clock, closing barrier included: NETTEST's definition
  ExchangeTimes exchange;      ///< of each exchange its slowest rank, without the barrier: ours
  RankRate slowest_rank, fastest_rank;
  double median_rank_bytes_per_s = std::numeric_limits<double>::quiet_NaN();  ///< over the ranks that have channels
  ChannelTime slowest_channel;
  double fairness = std::numeric_limits<double>::quiet_NaN();  ///< Jain's index over the rates of the directions
  double measuring_s = 0;
};

/// A load has at most so many points, however long it lasts; files keep room for them.
inline constexpr std::size_t max_load_points = 4096;

/// With --duration: some seconds of one cell.
struct LoadPoint {
  Cell cell;              ///< repeat: how often all cells had come before
  ServedChannels served;  ///< at its end
  double begin_s = 0;     ///< since the load began
  double elapsed_s = 0;
  std::uint64_t num_exchanges = 0, num_verified = 0;
  double time_ns_median = 0, time_ns_max = 0;  ///< of an exchange, slowest rank, without the barrier

  /// Of an exchange with all that is around it: barriers, checks, and whatever held it up.
  double time_ns_mean() const { return 1e9 * elapsed_s / static_cast<double>(num_exchanges); }
};

/// With --duration: an exchange that took far longer than others of its cell.
struct LoadStall {
  Cell cell;
  double begin_s = 0;  ///< since the load began
  double length_s = 0;

  /// On a link, what was sent again in the slice: TCP segments.
  struct Resent {
    std::int32_t from = -1, to = -1;
    std::uint64_t num = 0;
  };
  std::vector<Resent> resent;  ///< the links with most, most first; empty where the transport cannot tell
};

/// Two ranks that exchange a message each way while all others rest.
struct PairAlone {
  int topology_index = 0;  ///< into TopologyResult::topologies
  int size_index = 0;      ///< into the request's message sizes
  std::int32_t from = -1, to = -1;
  double time_ns = 0;         ///< half of a round trip: median; the least of attempts_alone
  bool is_suspected = false;  ///< else by chance
};

struct TopologyResult : RunResult {
  TopologyRequest request;
  std::vector<TopologyFacts> topologies;
  std::vector<CellSummary> cells;         ///< in the order in which they were measured
  std::vector<LoadPoint> load;            ///< --duration only
  std::vector<PairAlone> pairs_alone;     ///< in the order of the diagnoses
  std::vector<DiagnosedSlice> diagnoses;  ///< topology by topology, then size by size; none with --duration
};

}  // namespace leadline::bench::topology
