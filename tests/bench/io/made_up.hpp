// SPDX-License-Identifier: Apache-2.0
// A made-up result of a parallel file test, with round numbers.
#pragma once

#include <cstdint>
#include <string>

#include "bench/io/result.hpp"

namespace leadline::test {

inline constexpr std::uint64_t io_mebi = 1 << 20;
inline constexpr double io_gibi = 1 << 30;

/// 8 ranks, 16 objects of 1 MiB each, in 128 ms at 1 GiB/s.
inline bench::io::PhaseSummary made_up_phase(bench::io::IoOperation operation, int repeat, double gib_per_s) {
  bench::io::PhaseSummary phase;
  phase.position = {.index = 2 * repeat + (operation == bench::io::IoOperation::read ? 1 : 0),
                    .operation = operation,
                    .repeat = repeat};
  phase.is_complete = true;
  phase.bytes = 128 * io_mebi;
  phase.num_objects = phase.num_calls = 128;
  const double time_ns = 1e9 * static_cast<double>(phase.bytes) / (gib_per_s * io_gibi);
  phase.wall_ns = time_ns;
  phase.bytes_per_s = gib_per_s * io_gibi;
  phase.operations_per_s = 1024 * gib_per_s;
  phase.bytes_per_s_mean = 1.25 * gib_per_s * io_gibi;
  phase.bytes_per_s_first_done = 1.125 * gib_per_s * io_gibi;
  phase.bytes_per_s_io = 1.2 * gib_per_s * io_gibi;
  phase.bytes_per_s_transfer = 1.5 * gib_per_s * io_gibi;
  phase.io = {8, 0.6 * time_ns, 0.8 * time_ns, time_ns, 2, 5};
  const auto set = [&](bench::io::IoTime time, double share) {
    phase.times[static_cast<std::size_t>(time)] = {8, share * time_ns / 2, share * time_ns * 0.75, share * time_ns, 0,
                                                   7};
  };
  set(bench::io::IoTime::open, 0.01);
  set(bench::io::IoTime::call, 0.5);
  if (operation == bench::io::IoOperation::write) set(bench::io::IoTime::sync, 0.25);
  set(operation == bench::io::IoOperation::write ? bench::io::IoTime::fill : bench::io::IoTime::verify, 0.125);
  phase.call_ns_min = 0.5e6;
  phase.call_ns_p50 = 1e6;
  phase.call_ns_p90 = 2e6;
  phase.call_ns_p99 = 3e6;
  phase.call_ns_p999 = 4e6;
  phase.call_ns_max = 5e6;
  phase.series.bytes[0] = 8 * io_mebi;
  phase.series.bytes[1] = 4 * io_mebi;
  phase.series.bytes[2] = 2 * io_mebi;
  phase.cache_before = {true, 32768, operation == bench::io::IoOperation::read ? 8192u : 0u, 0, 0};
  phase.cache_after = {true, 32768, 32768, 0, 0};
  phase.source = bench::io::ReadSource::mixed;
  phase.is_durable = operation == bench::io::IoOperation::write;
  return phase;
}

/// Eight ranks on two hosts wrote and read three times.
inline bench::io::IoResult made_up_io_result() {
  bench::io::IoResult result;
  result.complete = true;
  result.provenance.transport = {.name = "tcp", .library = "sockets of the kernel", .device = "lo"};
  result.provenance.wait = WaitMode::yield;
  result.provenance.num_ranks = 8;
  result.provenance.num_hosts = 2;
  result.hosts = {{"a", "0-3"}, {"b", "4-7"}};
  result.request.movement = schedule::Movement::n_m_1;
  result.request.num_objects = result.num_objects = 16;
  result.request.repeat = 3;
  result.backend_library = "POSIX";
  result.file_system = "ext4";
  result.io_ranks = {0, 4};
  result.files = {"/scratch/t"};
  for (int repeat = 0; repeat < 3; ++repeat) {
    result.phases.push_back(made_up_phase(bench::io::IoOperation::write, repeat, 1 + repeat));
    result.phases.push_back(made_up_phase(bench::io::IoOperation::read, repeat, 4));
  }
  result.operations = {
      {bench::io::IoOperation::write, 3, io_gibi, 2 * io_gibi, 2 * io_gibi, 3 * io_gibi, 2.5 * io_gibi},
      {bench::io::IoOperation::read, 3, 4 * io_gibi, 4 * io_gibi, 4 * io_gibi, 4 * io_gibi, 0}};
  result.verified_bytes = 3 * 128 * io_mebi;
  return result;
}

}  // namespace leadline::test
