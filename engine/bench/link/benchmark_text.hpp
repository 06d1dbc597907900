// SPDX-License-Identifier: Apache-2.0
// Reads what other benchmarks print: OSU micro-benchmarks, IMB, mpiGraph, nccl-tests, perftest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/samples.hpp"

namespace leadline::bench::link {

/// One pair of ranks over message sizes, or a matrix with one message size.
struct BenchmarkText {
  std::string program;    ///< as the text calls it: "OSU MPI Latency Test v7.4"
  std::string transport;  ///< "mpi", "verbs", "nccl"
  Direction direction = Direction::semidirectional;
  std::int64_t num_ranks = 2;
  std::vector<std::string> hosts;                  ///< by rank; empty = the text names none
  std::uint64_t num_messages = 0;                  ///< of the first size; 0 = the text does not say
  std::uint64_t window = 0;                        ///< likewise
  std::vector<std::uint64_t> message_sizes_bytes;  ///< ascending, at least one

  std::vector<PairRecord> pair;   ///< of rank 0 towards rank 1, by message size; empty where there is a matrix
  std::vector<double> matrix_ns;  ///< row after row: from rank, to rank; 0 = not measured

  std::string incomplete_reason;      ///< empty = the text ends as the program does
  std::vector<std::string> left_out;  ///< what of the text is not here, in words
};

/// What texts `leadline convert` reads; those of IOR become results of another test.
inline constexpr const char* readable_benchmarks =
    "OSU (latency, bw, bibw, mbw_mr of one pair), IMB (PingPong, PingPing, Uniband, Biband of one pair), mpiGraph, "
    "sendrecv_perf of nccl-tests with two ranks, perftest, IOR";

/// Throws as kind_of_file does; also Error(bad_command_line) for what is no such text or holds neither a pair nor a
/// matrix, Error(run_failed) for one that is cut off or damaged. Memory: the text, and 8 bytes a pair.
BenchmarkText read_benchmark_text(const std::string& path);

}  // namespace leadline::bench::link
