// SPDX-License-Identifier: Apache-2.0
// A parallel file test to write, whose numbers say where they belong.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/output.hpp"
#include "bench/io/summary.hpp"
#include "support/result_files.hpp"

namespace leadline::test {

/// Write, read, write, read; there is room for one more repetition that does not come.
constexpr int num_measured_phases = 4;
constexpr std::uint64_t num_phases_of_io = 6;

inline bench::io::IoResult io_so_far(int num_ranks = 5) {
  bench::io::IoResult result;
  result.provenance = provenance_so_far(num_ranks);
  result.request.command_line = {"leadline", "io", "\xff"};
  result.request.message_sizes_bytes = {4096};
  result.request.movement = schedule::Movement::n_m_1;
  result.request.order = schedule::Order::strided;
  result.request.num_objects = 12;
  result.request.object_size_bytes = 4096;
  result.request.repeat = 3;
  result.backend_library = "POSIX";
  result.file_system = "ext4";
  result.run = std::numeric_limits<std::uint64_t>::max();
  result.num_objects = 12;
  result.io_ranks = {0, 3};
  result.files = {"/scratch/leadline-io", "/scratch/two"};
  return result;
}

inline bench::io::IoFileSetup io_setup(const cluster::Cluster& cluster, const std::string& path) {
  return {run_setup_for(cluster, path), num_phases_of_io};
}

inline bench::io::PhasePosition place_of(int index) {
  return {.index = index,
          .operation = index % 2 == 0 ? bench::io::IoOperation::write : bench::io::IoOperation::read,
          .repeat = index / 2};
}

/// Rank 4 does nothing; rank 1 knows nothing of its page cache behind the phase.
inline bench::io::RankPhase rank_phase_of(int index, int rank) {
  bench::io::RankPhase row;
  if (rank == 4) return row;
  const double base = 1e6 * (index + 1) + 1e3 * rank;
  const auto count = static_cast<std::uint64_t>(1000 * (index + 1) + 10 * rank);
  row.begin_ns = base + 0.5;
  row.end_ns = base + 1.5;
  row.done_ns = base + 1.25;
  row.joint_ns = base + 3.5;
  row.system_bytes = count + 13;
  row.io_ns = base + 2.5;
  for (std::size_t time = 0; time < bench::io::num_io_times; ++time)
    row.times_ns.at(time) = base + 10 + static_cast<double>(time);
  row.num_objects = count;
  row.bytes = count + 1;
  row.message_bytes = count + 2;
  row.num_calls = count + 3;
  row.num_continued = count + 4;
  row.bytes_at_stop = count + 5;
  row.num_mismatches = count + 6;
  row.call_ns_min = base + 30;
  row.call_ns_max = base + 40;
  row.file = rank % 2;
  row.latencies.at(static_cast<std::size_t>(rank)) = count;
  row.series.bin_ns = std::uint64_t{1} << (20 + rank);
  row.series.bytes.at(static_cast<std::size_t>(index)) = count;
  row.cache_before = {
      .is_known = true, .pages = count, .cached = count + 7, .dirty = count + 8, .writeback = count + 9};
  if (rank != 1) row.cache_after = {true, count, count + 10, count + 11, count + 12};
  return row;
}

inline bench::io::RankSpread spread_of(double base) {
  return {.num = 4, .min = base, .mean = base + 1, .max = base + 2, .min_rank = 3, .max_rank = 1};
}

inline bench::io::PhaseSummary phase_summary_of(int index) {
  bench::io::PhaseSummary summary;
  summary.position = place_of(index);
  summary.is_complete = true;
  const double base = 1e9 * (index + 1);
  summary.bytes = 1 << 20;
  summary.message_bytes = 1 << 19;
  summary.num_objects = 256;
  summary.num_calls = 300;
  summary.num_continued = 2;
  summary.wall_ns = 5e6;
  summary.bytes_per_s = base;
  summary.bytes_per_s_mean = base + 1;
  summary.bytes_per_s_io = base + 2;
  summary.bytes_per_s_first_done = base + 6;
  summary.first_done_ns = 4.5e6;
  summary.bytes_per_s_transfer = base + 3;
  summary.operations_per_s = base + 6;
  summary.fill_bytes_per_s = base + 4;
  summary.verify_bytes_per_s = base + 5;
  summary.io = spread_of(4e6);
  for (std::size_t time = 0; time < bench::io::num_io_times; ++time)
    summary.times.at(time) = spread_of(100 * static_cast<double>(time));
  summary.latencies.at(0) = 3;
  summary.latencies.at(5) = 290;
  summary.latencies.at(bench::io::num_latency_buckets - 1) = 7;
  summary.call_ns_min = 900;
  summary.call_ns_p50 = 2000;
  summary.call_ns_p90 = 2100;
  summary.call_ns_p99 = 2200;
  summary.call_ns_p999 = 2300;
  summary.call_ns_max = 4e12;
  summary.series = {.bin_ns = 1 << 21, .bytes = {5, 0, 7}};
  summary.cache_before = {.is_known = true, .pages = 256, .cached = 3, .dirty = 2, .writeback = 1};
  summary.source = bench::io::ReadSource::mixed;
  summary.is_durable = index == 0;
  return summary;
}

inline bench::io::WrongObject wrong_object() {
  bench::io::WrongObject wrong;
  wrong.mismatch.kind = memory::MismatchKind::other_rank;
  wrong.mismatch.expected = {.run = 9, .rank = 2, .file = 0, .object = 7, .offset_bytes = 28672, .generation = 1};
  wrong.mismatch.first_byte = 4096;
  wrong.mismatch.num_bytes = 512;
  wrong.mismatch.found =
      memory::ObjectKey{.run = 9, .rank = 3, .file = 0, .object = 7, .offset_bytes = 0, .generation = 1};
  wrong.read_by = 0;
  wrong.host = "node0";
  wrong.file = "/scratch/leadline-io";
  return wrong;
}

inline bench::io::SlowCall slow_call(std::uint64_t offset_bytes = 8192) {
  return {.rank = 1,
          .host = "node0",
          .file = "/scratch/two",
          .offset_bytes = offset_bytes,
          .size_bytes = 4096,
          .begin_ns = 17,
          .time_ns = 4e12};
}

/// A read with all that can go wrong, behind a time limit.
inline bench::io::PhaseSummary failed_phase(int index) {
  bench::io::PhaseSummary summary = phase_summary_of(index);
  summary.is_complete = false;
  summary.error = "reading FILE failed (Input/output error)";
  bench::io::make_incomplete(summary, summary.error);
  summary.has_stop = true;
  summary.stop_ns = 3e6;
  summary.bytes_at_stop = 0;
  summary.num_mismatches = 3;
  summary.wrong = {wrong_object()};
  summary.slow_calls = {slow_call(), slow_call(0)};
  return summary;
}

/// Of which two ranks are known.
inline bench::io::PhaseSummary interrupted_phase(int index) {
  bench::io::PhaseSummary summary;
  summary.position = phase_summary_of(index).position;
  summary.is_interrupted = true;
  summary.error = "interrupted: told to stop";
  summary.bytes = 12288;
  summary.num_objects = 3;
  summary.wall_ns = 5e6;
  summary.at_interruption = {{.rank = 0, .file = 0, .time_ns = 5e6, .bytes = 4096, .num_objects = 1},
                             {.rank = 3, .file = 1, .time_ns = 4e6, .bytes = 8192, .num_objects = 2}};
  return summary;
}

inline void write_phase(bench::io::IoFile& file, const cluster::Cluster& cluster,
                        const bench::io::PhaseSummary& summary) {
  // What counts on rank 0 alone is nonsense elsewhere.
  file.write(summary.position, rank_phase_of(summary.position.index, cluster.rank()),
             cluster.rank() == 0 ? summary : bench::io::PhaseSummary{});
}

inline void write_all_phases(bench::io::IoFile& file, const cluster::Cluster& cluster) {
  for (int index = 0; index < num_measured_phases; ++index) write_phase(file, cluster, phase_summary_of(index));
}

inline bench::io::IoResult finished(bench::io::IoResult result) {
  for (int index = 0; index < num_measured_phases; ++index) result.phases.push_back(phase_summary_of(index));
  result.operations = {{.operation = bench::io::IoOperation::write,
                        .num = 2,
                        .min = 1e9,
                        .median = 2e9,
                        .mean = 2.5e9,
                        .max = 3e9,
                        .half_width = 1e8,
                        .operations_per_s = {1, 2, 3, 4, 5}},
                       {.operation = bench::io::IoOperation::read, .num = 1}};
  result.hints = {
      {"cb_nodes", "4", "2", true}, {"romio_ds_write", "", "automatic", false}, {"nonsense", "1", "", false}};
  finish(result);
  result.verified_bytes = 77;
  return result;
}

/// A whole run.
inline void write_io(cluster::Cluster& cluster, const bench::io::IoFileSetup& setup) {
  const bench::io::IoResult so_far = io_so_far(cluster.size());
  const auto file = bench::io::open_io_file(cluster, so_far, setup);
  write_all_phases(*file, cluster);
  file->finish(cluster.rank() == 0 ? finished(so_far) : bench::io::IoResult{});
}

}  // namespace leadline::test
