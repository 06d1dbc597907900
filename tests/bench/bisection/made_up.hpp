// SPDX-License-Identifier: Apache-2.0
// A made-up result of a bisection test, with round numbers.
#pragma once

#include <cstdint>
#include <string>

#include "bench/bisection/result.hpp"

namespace leadline::test {

inline constexpr std::uint64_t mebi = 1 << 20;
inline constexpr double gibi = 1 << 30;

inline bench::bisection::PatternSummary made_up_pattern(bench::bisection::PatternKind kind, std::uint64_t number,
                                                        double gib_per_s, int size_index = 0) {
  bench::bisection::PatternSummary pattern;
  pattern.position = {.size_index = size_index,
                      .message_size_bytes = size_index == 0 ? mebi : 2 * mebi,
                      .number = number,
                      .kind = kind,
                      .index = number,
                      .repeat = 0,
                      .name = name_of(kind)};
  pattern.num_connections = 8;
  pattern.bytes_per_s_mean = gib_per_s * gibi;
  pattern.bytes_per_s_harmonic = gib_per_s * gibi * 0.9;
  pattern.bytes_per_s_min = gib_per_s * gibi * 0.5;
  pattern.bytes_per_s_max = gib_per_s * gibi * 1.5;
  pattern.bytes_per_s_full_load = pattern.bytes_per_s_mean;
  pattern.slowest_from = 3;
  pattern.slowest_to = 6;
  pattern.begin_s = 0.5 * static_cast<double>(number);
  pattern.measuring_s = 0.5;
  return pattern;
}

inline bench::bisection::PatternSummary made_up_named(std::uint64_t number, std::uint64_t index,
                                                      const std::string& name, double gib_per_s, int size_index = 0) {
  bench::bisection::PatternSummary pattern =
      made_up_pattern(bench::bisection::PatternKind::named, number, gib_per_s, size_index);
  pattern.position.index = index;
  pattern.position.name = name;
  return pattern;
}

inline bench::bisection::BisectionSummary made_up_size(int size_index, double gib_per_s) {
  bench::bisection::BisectionSummary size;
  size.size_index = size_index;
  size.message_size_bytes = size_index == 0 ? mebi : 2 * mebi;
  size.num_patterns = 120;
  size.num_connections = 960;
  size.stopped_by = bench::bisection::StopReason::precision;
  size.ebb = {120, gib_per_s * gibi, 0.01 * gib_per_s * gibi};
  size.full_load = {120, 1.1 * gib_per_s * gibi, 0.02 * gib_per_s * gibi};
  size.baseline = {120, 1.25 * gib_per_s * gibi, 0.015 * gib_per_s * gibi};
  size.static_share = {120, 0.95, 0.01};
  size.contention_share = {120, 0.8, 0.012};
  size.tail = 2.1;
  size.bytes_per_s_harmonic = 0.9 * gib_per_s * gibi;
  size.bytes_per_s_min = 0.25 * gib_per_s * gibi;
  size.bytes_per_s_p01 = 0.5 * gib_per_s * gibi;
  size.bytes_per_s_p05 = 0.6 * gib_per_s * gibi;
  size.bytes_per_s_median = 1.05 * gib_per_s * gibi;
  size.bytes_per_s_max = 1.25 * gib_per_s * gibi;
  size.buckets = {{200'000, 400'000, 800}, {400'000, 600'000, 150}, {600'000, 800'000, 0}, {800'000, 1'000'000, 10}};
  return size;
}

/// Eight ranks on four hosts; one size of which random patterns, two named ones and a search were measured.
inline bench::bisection::BisectionResult made_up_result() {
  bench::bisection::BisectionResult result;
  result.complete = true;
  result.provenance.transport = {.name = "tcp", .library = "sockets of the kernel", .device = "lo"};
  result.provenance.wait = WaitMode::yield;
  result.provenance.num_ranks = 8;
  result.provenance.num_hosts = 4;
  result.hosts = {{"a", "0-1"}, {"b", "2-3"}, {"c", "4-5"}, {"d", "6-7"}};
  result.request.message_sizes_bytes = {mebi};
  result.request.patterns = {"random", "halves", "shift:1"};
  result.request.seed = 7;
  result.request.num_worst_steps = 2;
  result.pattern_names = {"halves", "shift:1"};
  result.num_participants = 8;
  result.patterns = {made_up_pattern(bench::bisection::PatternKind::random, 0, 4.2),
                     made_up_pattern(bench::bisection::PatternKind::random, 1, 3.6),
                     made_up_named(2, 0, "halves", 3),
                     made_up_named(3, 1, "shift:1", 5),
                     made_up_pattern(bench::bisection::PatternKind::worst, 4, 3),
                     made_up_pattern(bench::bisection::PatternKind::worst, 5, 2)};
  result.sizes = {made_up_size(0, 4)};
  const double median_ns = 1e9 * static_cast<double>(mebi) / result.sizes[0].bytes_per_s_median;
  result.slow_connections = {{0, 1, 3, 6, 4 * median_ns, median_ns, false},
                             {0, 0, 5, 0, 2 * median_ns, 1.9 * median_ns, true},
                             {0, 1, 0, 5, 1.1 * median_ns, median_ns, false}};
  Diagnosis diagnosis;
  diagnosis.num_pairs = diagnosis.num_measured = 56;
  Fault fault;
  fault.component = {ComponentKind::host, -1, 2, -1, -1};
  fault.name = "host c";
  fault.ratio = 2;
  fault.ratio_low = 1.9;
  fault.ratio_high = 2.1;
  fault.num_pairs = 26;
  fault.ratio_alone = 2.02;
  fault.persistence = Persistence::persistent;
  diagnosis.faults = {fault};
  result.diagnoses = {{0, 0, mebi, "random", diagnosis}};
  return result;
}

/// Two message sizes; the larger was stopped by the time limit.
inline bench::bisection::BisectionResult made_up_sweep() {
  bench::bisection::BisectionResult result = made_up_result();
  result.request.message_sizes_bytes = {mebi, 2 * mebi};
  result.sizes.push_back(made_up_size(1, 5));
  result.sizes[1].stopped_by = bench::bisection::StopReason::time_limit;
  result.sizes[1].num_patterns = 57;
  result.patterns.push_back(made_up_named(0, 0, "halves", 3.5, 1));
  result.patterns.push_back(made_up_named(1, 1, "shift:1", 6, 1));
  return result;
}

}  // namespace leadline::test
