// SPDX-License-Identifier: Apache-2.0
// The lines that LinkTest 2.x prints, each a pure function of the numbers in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/link/output.hpp"
#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "compat/process.hpp"
#include "compat/values.hpp"

namespace leadline::compat::linktest {

/// The factors that turn times into bandwidths.
struct Scale {
  std::uint64_t message_size_bytes = 0;
  Direction direction = Direction::semidirectional;
};

/// Bandwidths across the cut, one a step: least, mean, greatest over the steps so far. Bytes per second.
struct BisectionSoFar {
  std::uint64_t num_steps = 0;
  double min = 0, mean = 0, max = 0;

  void add(double bytes_per_s);
};

struct StepCount {
  std::int64_t done = 0, all = 0;
  double elapsed_s = 0;
};

/// The arguments in their box. Lines for what LinkTest's default run does not have come only where they are in use.
std::string arguments_box(const bench::link::LinkRequest& request);

std::string start_lines();

/// "Parallel PingPong for step 1: ..." with its bandwidth across the cut, if that is what is measured.
std::string step_line(const bench::link::LinkRequest& request, std::int64_t step, const Times& times,
                      const std::optional<Spread>& bisection, const Scale& scale);
std::string analyse_line(const Times& so_far, const std::optional<BisectionSoFar>& bisection, const Scale& scale);
std::string timing_line(const StepCount& steps);

/// A title and the lines RESULT: Min, Max, Avg.
std::string timing_results(int iteration, const Times& times, const std::optional<BisectionSoFar>& bisection,
                           const Scale& scale);
std::string slow_pair_line(std::size_t index, const SlowPair& pair, const Scale& scale);
std::string slow_pair_results(int iteration, const Times& retests, const Scale& scale);
/// Empty where there was no all-to-all.
std::string all_to_all_results(int iteration, const bench::link::AllToAllSummary& summary);

/// For standard error: where a task is, how long a phase took, and what was written.
std::string task_line(int rank, const std::string& host, int core, std::uint64_t resident_bytes);
std::string phase_line(bench::link::Phase phase, double seconds);
std::string written_line(std::uint64_t record_bytes);

/// Prints the arguments at once, the rest as it comes.
std::unique_ptr<bench::link::Progress> make_progress(const bench::link::LinkResult& so_far, Outlet outlet);

}  // namespace leadline::compat::linktest
