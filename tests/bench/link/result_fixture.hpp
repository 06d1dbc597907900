// SPDX-License-Identifier: Apache-2.0
// A link test to write, whose numbers say where they belong.
#pragma once

#include <string>
#include <vector>

#include "bench/link/file.hpp"
#include "bench/link/hdf5_store.hpp"
#include "support/result_files.hpp"

namespace leadline::test {

inline bench::link::LinkResult result_so_far(int num_ranks) {
  bench::link::LinkResult result;
  result.request.command_line = {"leadline", "link", "--seed", "7", "\xff"};
  result.request.message_sizes_bytes = {8, 1024};
  result.request.seed = 7;
  result.request.shuffle_ranks = 2;
  result.provenance = provenance_so_far(num_ranks);
  result.num_rounds = num_ranks - 1;
  return result;
}

inline bench::link::PairSummary pair_summary(double median_ns, std::uint64_t num_pairs = 20) {
  return {.num_pairs = num_pairs,
          .time_ns_min = median_ns * 0.5,
          .time_ns_mean = median_ns * 1.25,
          .time_ns_max = median_ns * 4,
          .time_ns_p01 = median_ns * 0.6,
          .time_ns_p05 = median_ns * 0.7,
          .time_ns_p25 = median_ns * 0.8,
          .time_ns_median = median_ns,
          .time_ns_p75 = median_ns * 1.5,
          .time_ns_p95 = median_ns * 2,
          .time_ns_p99 = median_ns * 3,
          .median_interval_low_ns = median_ns * 0.9,
          .median_interval_high_ns = median_ns * 1.1};
}

inline bench::link::LinkResult finished(bench::link::LinkResult result) {
  bench::link::SliceSummary summary;
  summary.slice = {.repeat = 1, .permutation = 1, .size_index = 1, .message_size_bytes = 1024};
  summary.all = pair_summary(2000);
  summary.same_host = pair_summary(1000);
  summary.between_hosts = {};
  summary.slowest = {{.from = 3, .to = 1, .time_ns = 8000, .retest_time_ns = 2000},
                     {.from = 0, .to = 2, .time_ns = 3000, .retest_time_ns = 0}};
  summary.measuring_s = 0.5;
  summary.slowest_pairs_s = 0.375;
  summary.retest_s = 0.0625;
  result.slices = {summary};
  result.slow_pair_hosts = {"node1", "node0", "node0", "node1"};
  finish(result);
  return result;
}

inline bench::link::LinkFileSetup setup_for(const cluster::Cluster& cluster, const std::string& path) {
  bench::link::LinkFileSetup setup;
  static_cast<result::RunFileSetup&>(setup) = run_setup_for(cluster, path);
  const int size = cluster.size();
  setup.permutation = [size](int index) {
    std::vector<std::int32_t> seats;
    for (int seat = 0; seat < size; ++seat) seats.push_back((seat + index + 1) % size);
    return seats;
  };
  setup.permutation_of_repeat = [](int repeat) { return repeat % 2; };
  return setup;
}

/// A row whose numbers say where they belong; the last partner is a hole.
inline PairRow row_of(const cluster::Cluster& cluster, const bench::link::Slice& slice) {
  const auto num_ranks = static_cast<std::size_t>(cluster.size());
  PairRow row(num_ranks);
  for (std::size_t to = 0; to + 1 < num_ranks; ++to) {
    const double base =
        1e6 * (slice.repeat + 1) + 1e4 * slice.size_index + 1e2 * cluster.rank() + static_cast<double>(to);
    row.set(to, {.count = static_cast<std::uint32_t>(20 + to),
                 .time_ns_min = base + 0.1,
                 .time_ns_median = base + 0.2,
                 .time_ns_mean = base + 0.3,
                 .time_ns_p99 = base + 0.4,
                 .time_ns_max = base + 0.5});
  }
  return row;
}

}  // namespace leadline::test
