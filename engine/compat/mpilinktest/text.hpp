// SPDX-License-Identifier: Apache-2.0
// The lines that LinkTest 1.2 prints, each a pure function of the numbers in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/link/output.hpp"
#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "compat/process.hpp"
#include "compat/values.hpp"
#include "model/result.hpp"

namespace leadline::compat::mpilinktest {

// Times are in microseconds; "MB/s" is LinkTest 1.2's word for MiB/s, kept for those who read it.

/// What stands above a run: its arguments, then "Starting Test of all connections:". `summary_interval` is -C.
std::string arguments_text(const bench::link::LinkRequest& request, int num_ranks, std::uint64_t summary_interval);

/// How long a phase took: "timings[000] [work]   t=  0.012345s".
std::string phase_line(const std::string& name, double seconds);

/// One step of the parallel test; with the all-to-all before it, where there is one.
std::string parallel_step_line(std::int64_t step, const Times& times, const std::optional<Spread>& all_to_all,
                               std::uint64_t message_size_bytes);

/// The serial test: a title, a line for each ordered pair (at whose end "l=" is the rank that began), and the step's
/// averages.
std::string serial_step_title(std::int64_t step);
std::string serial_pair_line(int from, int to, double time_ns, std::uint64_t message_size_bytes);
std::string serial_step_end(const Times& times, const std::optional<Spread>& all_to_all,
                            std::uint64_t message_size_bytes);

struct StepCount {
  std::int64_t done = 0, all = 0;
  double elapsed_s = 0;
};

/// Two lines: all steps so far, and how long the rest may take.
std::string running_summary(const Times& so_far, const StepCount& steps, std::uint64_t message_size_bytes);

/// RESULT: Min, Max, Avg Time; of the retest, with "Stest" in them.
enum class Part : std::uint8_t { all_steps, retest };
std::string results(Part part, const Times& times, int iteration, std::uint64_t message_size_bytes);

std::string slow_pair_line(std::size_t index, const SlowPair& pair, std::uint64_t message_size_bytes);

std::string written_line(const std::string& path, std::uint64_t record_bytes);

/// For standard error.
std::string task_line(int rank, const std::string& host, std::uint64_t resident_bytes);

/// Prints the arguments when the ranks have joined, the rest as it comes; a running summary after every
/// `summary_interval` steps.
std::unique_ptr<bench::link::Progress> make_progress(const bench::link::LinkResult& so_far,
                                                     std::uint64_t summary_interval, Outlet outlet);

}  // namespace leadline::compat::mpilinktest
