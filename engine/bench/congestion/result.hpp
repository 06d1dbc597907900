// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline congestion` leaves behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/congestion/request.hpp"
#include "core/named.hpp"
#include "model/result.hpp"
#include "stats/time_histogram.hpp"

namespace leadline::bench::congestion {

/// What victims do; formulas in docs/methods/congestion.md.
enum class Test : std::uint8_t {
  latency,    ///< 8 bytes to a partner and back, on a schedule
  bandwidth,  ///< a stream of messages to a partner
  allreduce,  ///< 8 bytes over all victims, one behind the other
};
inline constexpr std::size_t num_tests = 3;
inline constexpr std::array<Test, num_tests> all_tests{Test::latency, Test::bandwidth, Test::allreduce};

/// Of the latency test and the allreduce.
inline constexpr std::size_t small_message_bytes = 8;

std::span<const Named<Test>> names_of(Test any);
const char* name_of(Test test);

/// What the messages of victims share with ranks that load the network, at either end.
enum class Shared : std::uint8_t {
  all,      ///< whatever they share
  host,     ///< a host
  leaf,     ///< the switch of a host, where the network is known
  further,  ///< neither
};
inline constexpr std::size_t num_shared = 4;

std::span<const Named<Shared>> names_of(Shared any);
const char* name_of(Shared shared);

/// A load with an intensity. `load` -1: no load at all, to see what chance alone does.
struct Cell {
  std::int32_t load = -1;  ///< into CongestionResult::loads
  std::int32_t intensity_percent = 0;
};

/// One state of a test, alone or loaded: nanoseconds of one operation. NaN where nothing was measured, or too little
/// for a quantile.
struct Times {
  std::uint64_t num = 0;
  double mean = std::numeric_limits<double>::quiet_NaN(), median = mean, p99 = mean, p999 = mean, max = mean;
};

/// The extremes of fewer rounds would hold their median with less than 95 % (of five 93.75 %).
inline constexpr std::uint32_t fewest_rounds_of_interval = 6;

/// Loaded by alone, the median over rounds, and its 95 % interval. NaN likewise, and where there are too few rounds.
struct Factor {
  double estimate = std::numeric_limits<double>::quiet_NaN();
  double low = estimate, high = estimate;
};

/// What a load does to a test.
struct Impact {
  Cell cell;
  Test test = Test::latency;
  Shared shared = Shared::all;
  std::uint32_t num_rounds = 0;
  Times alone, loaded;
  Factor mean, median, p99, p999;
};

/// What a load reaches, and what comes after it.
struct LoadSummary {
  Cell cell;
  std::uint32_t num_rounds = 0;
  double bytes_per_s = std::numeric_limits<double>::quiet_NaN();        ///< sent by all its ranks, mean over rounds
  double alone_bytes_per_s = std::numeric_limits<double>::quiet_NaN();  ///< without pauses and without victims
  double fairness = std::numeric_limits<double>::quiet_NaN();           ///< Jain's index over its sending ranks, mean
  /// After its end, until latency is as it was alone. NaN: not measured, or not within the time of a test.
  double recovery_s = std::numeric_limits<double>::quiet_NaN();
};

struct CongestionResult : RunResult {
  CongestionRequest request;
  std::vector<std::int32_t> victims;  ///< ranks, ascending
  std::uint64_t num_load_ranks = 0;
  bool victims_are_hosts = false;  ///< a host has ranks of one kind only
  std::vector<Cell> cells;         ///< in the order of the tables of the file
  std::vector<Impact> impacts;     ///< cell by cell, then test by test, then what is shared
  std::vector<LoadSummary> loads;  ///< of cells that have a load
};

/// "incast 50 %", "no load".
std::string name_of(const CongestionRequest& request, const Cell& cell);

/// The impact on the whole test, of those whose interval is known, whose median or 99 % quantile surely grows most;
/// nothing where none does. And that quantile.
struct Worst {
  const Impact* impact = nullptr;
  const char* quantile = "";
  Factor factor;
};
std::optional<Worst> worst_of(const CongestionResult& result);

}  // namespace leadline::bench::congestion
