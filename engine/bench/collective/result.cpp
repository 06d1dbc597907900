// SPDX-License-Identifier: Apache-2.0
// The sizes and bandwidths of nccl-tests.
#include "bench/collective/result.hpp"

#include <algorithm>

namespace leadline::bench::collective {

std::uint64_t num_elements(Operation operation, std::uint64_t size_bytes, std::uint64_t num_ranks) {
  const std::uint64_t num_blocks = operation == Operation::allreduce ? 1 : num_ranks;
  return std::max<std::uint64_t>(size_bytes / sizeof(float) / num_blocks, 1);
}

Bandwidths bandwidths_of(const Cell& cell, std::uint64_t num_ranks, double time_ns) {
  const bool is_allreduce = cell.operation == Operation::allreduce;
  const std::uint64_t elements = num_elements(cell.operation, cell.message_size_bytes, num_ranks);
  const auto bytes = static_cast<double>(elements * sizeof(float) * (is_allreduce ? 1 : num_ranks));
  const double algorithm = 1e9 * bytes / time_ns;
  const auto ranks = static_cast<double>(num_ranks);
  return {algorithm, algorithm * (is_allreduce ? 2 : 1) * (ranks - 1) / ranks};
}

}  // namespace leadline::bench::collective
