// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline collective` leaves behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bench/collective/request.hpp"
#include "model/result.hpp"

namespace leadline::bench::collective {

/// An operation with a size.
struct Cell {
  Operation operation = Operation::allreduce;
  std::int32_t size_index = 0;  ///< into the request's message sizes
  std::uint64_t message_size_bytes = 0;
};

/// Numbers of an allreduce, or of a block of the others, with this size among so many ranks: whole numbers, rounded
/// down, at least one.
std::uint64_t num_elements(Operation operation, std::uint64_t size_bytes, std::uint64_t num_ranks);

/// What an operation among so many ranks takes, and what follows from it.
struct Bandwidths {
  double algorithm_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  double bus_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
};

/// As nccl-tests define them (doc/PERFORMANCE.md): the size that num_elements() leaves by the time; for the bus times
/// 2(n-1)/n of an allreduce and (n-1)/n of the others, n ranks: what a link of a ring carries.
Bandwidths bandwidths_of(const Cell& cell, std::uint64_t num_ranks, double time_ns);

/// Over batches, groups and rounds: nanoseconds of an operation of a batch, of the slowest rank of its group.
struct CellSummary {
  Cell cell;
  std::uint64_t num = 0;  ///< batches; 0: not measured, the rest NaN
  double min = std::numeric_limits<double>::quiet_NaN(), median = min, mean = min, p99 = min, max = min;
  Bandwidths bandwidths;  ///< medians, likewise
};

struct CollectiveResult : RunResult {
  CollectiveRequest request;
  Algorithm algorithm = Algorithm::automatic;  ///< what was used; automatic where it was not known yet
  std::int32_t num_groups = 1;                 ///< of a round
  std::int32_t group_ranks_min = 0, group_ranks_max = 0;
  std::vector<CellSummary> cells;  ///< operation by operation, size by size
};

}  // namespace leadline::bench::collective
