// SPDX-License-Identifier: Apache-2.0
// A bisection test to write, whose numbers say where they belong.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/bisection/output.hpp"
#include "support/result_files.hpp"

namespace leadline::test {

constexpr std::uint64_t num_random = 4, max_patterns = 7, max_baseline = 4;

/// Sizes 0 and 1 have patterns, size 2 none: the time was over.
constexpr std::array<std::uint64_t, 3> num_patterns_of_size{6, 2, 0};

inline bench::bisection::BisectionResult bisection_so_far(int num_ranks = 5) {
  bench::bisection::BisectionResult result;
  result.provenance = provenance_so_far(num_ranks);
  result.request.command_line = {"leadline", "bisection", "\xff"};
  result.request.message_sizes_bytes = {8, 1024, 4096};
  result.request.patterns = {"random", "halves", "shift:3"};
  result.request.seed = std::numeric_limits<std::uint64_t>::max();
  result.request.rounds = num_random;
  result.request.num_worst_steps = 1;
  result.pattern_names = {"halves", "shift:3"};
  result.num_participants = 4;
  return result;
}

inline bench::bisection::BisectionFileSetup bisection_setup(const cluster::Cluster& cluster, const std::string& path) {
  return {run_setup_for(cluster, path), max_patterns, max_baseline};
}

/// Of 5 ranks 4 rests in every pattern, and receives from nobody.
inline bench::bisection::RankTimes times_of(int size_index, std::uint64_t number, int rank) {
  if (rank == 4) return {};
  const double base = 1e4 * (size_index + 1) + 100 * static_cast<double>(number) + rank;
  return {.to = static_cast<std::int32_t>((static_cast<std::uint64_t>(rank) + number + 1) % 4),
          .from = static_cast<std::int32_t>((static_cast<std::uint64_t>(rank) + 7 - number % 4) % 4),
          .time_ns = base + 0.5,
          .full_load_time_ns = base + 0.25};
}

/// Four random ones, halves, shift:3.
inline bench::bisection::PatternSummary pattern_of(int size_index, std::uint64_t number) {
  bench::bisection::PatternSummary summary;
  const bool is_random = number < num_random;
  summary.position = {
      .size_index = size_index,
      .message_size_bytes = bisection_so_far().request.message_sizes_bytes.at(static_cast<std::size_t>(size_index)),
      .number = number,
      .kind = is_random ? bench::bisection::PatternKind::random : bench::bisection::PatternKind::named,
      .index = is_random ? number + 10 : number - num_random,
      .repeat = 0,
      .name = is_random ? "random" : bisection_so_far().pattern_names.at(number - num_random)};
  const double base = 1e6 * (size_index + 1) + 1e3 * static_cast<double>(number);
  summary.num_connections = 4;
  summary.bytes_per_s_mean = base + 1;
  summary.bytes_per_s_harmonic = base + 2;
  summary.bytes_per_s_min = base + 3;
  summary.bytes_per_s_max = base + 4;
  summary.bytes_per_s_full_load = base + 5;
  summary.time_ns_mean = base + 6;
  summary.slowest_from = static_cast<std::int32_t>(number % 4);
  summary.slowest_to = static_cast<std::int32_t>((number + 1) % 4);
  summary.accepted = number == 5;
  summary.begin_s = static_cast<double>(number) + 0.5;
  summary.measuring_s = 0.25;
  return summary;
}

/// Behind every random pattern.
inline bench::bisection::BaselineSample baseline_of(int size_index, std::uint64_t number) {
  return {.size_index = size_index,
          .number = number,
          .from = static_cast<std::int32_t>(number % 4),
          .to = 3,
          .time_ns = 500 * (size_index + 1) + static_cast<double>(number)};
}

struct Numbers {
  std::uint64_t begin = 0, end = 0;
};

/// What `rank` hands over after these patterns.
inline void write_patterns(bench::bisection::BisectionFile& file, const cluster::Cluster& cluster, int size_index,
                           Numbers numbers) {
  std::vector<bench::bisection::RankTimes> times;
  std::vector<bench::bisection::PatternSummary> patterns;
  std::vector<bench::bisection::BaselineSample> baseline;
  for (std::uint64_t number = numbers.begin; number < numbers.end; ++number) {
    times.push_back(times_of(size_index, number, cluster.rank()));
    patterns.push_back(pattern_of(size_index, number));
    if (number < num_random) baseline.push_back(baseline_of(size_index, number));
  }
  file.write({.size_index = size_index,
              .first_number = numbers.begin,
              .times = times,
              .patterns = patterns,
              .first_baseline = std::min(numbers.begin, num_random),
              .baseline = baseline});
}

/// Everything that is measured, in two goes of the first size.
inline void write_all_patterns(bench::bisection::BisectionFile& file, const cluster::Cluster& cluster) {
  write_patterns(file, cluster, 0, {0, 2});
  write_patterns(file, cluster, 0, {2, num_patterns_of_size[0]});
  write_patterns(file, cluster, 0, {num_patterns_of_size[0], num_patterns_of_size[0]});
  write_patterns(file, cluster, 1, {0, num_patterns_of_size[1]});
}

inline bench::bisection::BisectionSummary size_summary(int size_index) {
  bench::bisection::BisectionSummary summary;
  summary.size_index = size_index;
  summary.message_size_bytes = bisection_so_far().request.message_sizes_bytes.at(static_cast<std::size_t>(size_index));
  summary.num_patterns = 4;
  summary.num_connections = 16;
  summary.stopped_by =
      size_index == 0 ? bench::bisection::StopReason::rounds : bench::bisection::StopReason::time_limit;
  summary.ebb = {.num = 4, .mean = 2e9, .half_width = 1e7};
  summary.full_load = {.num = 4, .mean = 1.9e9, .half_width = 2e7};
  summary.baseline = {.num = 3, .mean = 4e9, .half_width = 3e7};
  summary.static_share = {.num = 3, .mean = 0.9, .half_width = 0.002};
  summary.tail = 1.25;
  summary.contention_share = {.num = 3, .mean = 0.5, .half_width = 0.004};
  summary.bytes_per_s_harmonic = 1.75e9;
  summary.bytes_per_s_min = 1e9;
  summary.bytes_per_s_p01 = 1.1e9;
  summary.bytes_per_s_p05 = 1.2e9;
  summary.bytes_per_s_median = 2.1e9;
  summary.bytes_per_s_max = 3e9;
  summary.buckets = {{100, 200, 12}, {200, 300, 4}};
  summary.measuring_s = 1.5;
  return summary;
}

inline bench::bisection::BisectionResult finished(bench::bisection::BisectionResult result) {
  for (int size_index = 0; size_index < 2; ++size_index) {
    for (std::uint64_t number = 0; number < num_patterns_of_size.at(static_cast<std::size_t>(size_index)); ++number) {
      result.patterns.push_back(pattern_of(size_index, number));
      if (number < num_random) result.baseline.push_back(baseline_of(size_index, number));
    }
    result.sizes.push_back(size_summary(size_index));
  }
  // Of the third size nothing is known but that it is there.
  result.sizes.emplace_back();
  result.sizes.back().size_index = 2;
  result.sizes.back().message_size_bytes = 4096;
  result.slow_connections = {
      {.size_index = 0, .number = 3, .from = 2, .to = 1, .time_ns = 900, .alone_time_ns = 300, .slow_alone = false},
      {.size_index = 1, .number = 0, .from = 0, .to = 3, .time_ns = 800}};
  Diagnosis diagnosis;
  diagnosis.num_pairs = diagnosis.num_measured = 12;
  Fault fault;
  fault.component = {ComponentKind::host, -1, 1, -1, -1};
  fault.name = "host node1";
  fault.ratio = 2;
  diagnosis.faults = {fault};
  result.diagnoses = {{0, 0, 1, "random", diagnosis}};
  finish(result);
  result.verified_bytes = 77;
  return result;
}

/// A whole run.
inline void write_bisection(cluster::Cluster& cluster, const bench::bisection::BisectionFileSetup& setup) {
  const bench::bisection::BisectionResult so_far = bisection_so_far(cluster.size());
  const auto file = bench::bisection::open_bisection_file(cluster, so_far, setup);
  write_all_patterns(*file, cluster);
  file->finish(cluster.rank() == 0 ? finished(so_far) : bench::bisection::BisectionResult{});
}

}  // namespace leadline::test
