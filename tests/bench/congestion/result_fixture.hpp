// SPDX-License-Identifier: Apache-2.0
// A congestion test to write, whose numbers say where they belong.
#pragma once

#include <memory>
#include <vector>

#include "bench/congestion/output.hpp"
#include "support/result_files.hpp"

namespace leadline::test {

/// Of 5 ranks 1 and 3 are victims; no load, incast 50 % and incast 100 %.
inline bench::congestion::CongestionResult congestion_so_far(int num_ranks = 5) {
  bench::congestion::CongestionResult result;
  result.provenance = provenance_so_far(num_ranks);
  result.request.command_line = {"leadline", "congestion", "\xff"};
  result.request.rounds = 2;
  result.victims = {1, 3};
  result.num_load_ranks = static_cast<std::uint64_t>(num_ranks) - 2;
  result.victims_are_hosts = true;
  result.cells = {{-1, 0}, {0, 50}, {0, 100}};
  return result;
}

inline bench::congestion::Times congestion_times(std::size_t cell, std::size_t test, std::size_t place, int state) {
  const double base = 1000 * static_cast<double>(100 * cell + 10 * test + place) + state;
  return {1000 + place, base + 0.1, base + 0.2, base + 0.3, base + 0.4, base + 0.5};
}

/// The last round counts of distributions and of victims.
inline void write_rounds(bench::congestion::CongestionFile& file, const cluster::Cluster& cluster) {
  using namespace bench::congestion;
  const CongestionResult so_far = congestion_so_far();
  for (std::uint32_t round = 0; round < so_far.request.rounds; ++round) {
    std::vector<RoundNumbers> tests;
    std::vector<LoadNumbers> loads;
    std::vector<Distribution> distributions;
    std::vector<VictimNumbers> own;
    const auto victim = std::ranges::find(so_far.victims, cluster.rank());
    const auto place = static_cast<std::size_t>(victim - so_far.victims.begin());
    for (std::size_t cell = 0; cell < so_far.cells.size(); ++cell) {
      for (std::size_t test = 0; test < num_tests; ++test) {
        if (victim != so_far.victims.end()) {
          own.push_back({congestion_times(cell, test, place, 2), congestion_times(cell, test, place, 3)});
        }
        if (cluster.rank() != 0) continue;
        tests.push_back({congestion_times(cell, test, round, 0), congestion_times(cell, test, round, 1)});
        distributions.emplace_back().alone[100 * cell + test] = round + 1;
        distributions.back().loaded[7] = 9;
      }
      if (cluster.rank() == 0) loads.push_back({1e6 * static_cast<double>(cell) + round, 0.5});
    }
    file.write({round, tests, loads, distributions, own});
  }
}

inline bench::congestion::CongestionResult finished(bench::congestion::CongestionResult result) {
  using namespace bench::congestion;
  for (const Cell& cell : result.cells) {
    for (const Test test : all_tests) {
      const double factor = 1 + 0.01 * cell.intensity_percent;
      Impact& impact = result.impacts.emplace_back();
      impact.cell = cell;
      impact.test = test;
      impact.num_rounds = 2;
      impact.alone = {5000, 1100, 1000, 3000, 4000, 5000};
      impact.loaded = {5000, 1100 * factor, 1000 * factor, 3000 * factor, 4000 * factor, 5000 * factor};
      impact.mean = impact.median = {factor, factor - 0.1, factor + 0.1};
      impact.p99 = {10 * factor, 9 * factor, 11 * factor};
    }
    if (cell.load >= 0) result.loads.push_back({cell, 2, 1e9, 2e9, 0.9, 0.002});
  }
  result.impacts.push_back(result.impacts.back());
  result.impacts.back().shared = Shared::host;
  finish(result);
  return result;
}

/// A whole run.
inline void write_congestion(cluster::Cluster& cluster, const result::RunFileSetup& setup) {
  const bench::congestion::CongestionResult so_far = congestion_so_far(cluster.size());
  const auto file = bench::congestion::open_congestion_file(cluster, so_far, setup);
  write_rounds(*file, cluster);
  file->finish(cluster.rank() == 0 ? finished(so_far) : bench::congestion::CongestionResult{});
}

}  // namespace leadline::test
