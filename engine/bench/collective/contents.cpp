// SPDX-License-Identifier: Apache-2.0
// Numbers follow from the rank and the place in its buffer.
#include "bench/collective/contents.hpp"

#include <cassert>

namespace leadline::bench::collective {
namespace {

// A float holds whole numbers up to 2^24: sums of these do for a quarter of a million ranks.
constexpr std::size_t index_period = 61, rank_period = 7;
constexpr std::size_t largest_number = 16'777'213;  // prime, below 2^24
constexpr std::size_t rank_step = 8'191;

bool is_summed(Operation operation) {
  return operation == Operation::allreduce || operation == Operation::reduce_scatter;
}

float number_of(Operation operation, std::size_t place, std::size_t index) {
  const std::size_t number =
      is_summed(operation) ? place % rank_period + index % index_period : (place * rank_step + index) % largest_number;
  return static_cast<float>(number);
}

/// Over all ranks.
float sum_of(std::size_t num_ranks, std::size_t index) {
  const std::size_t num_whole = num_ranks / rank_period, rest = num_ranks % rank_period;
  const std::size_t of_ranks = num_whole * (rank_period * (rank_period - 1) / 2) + rest * (rest - 1) / 2 * (rest > 0);
  return static_cast<float>(of_ranks + num_ranks * (index % index_period));
}

float expected(const Share& share, std::size_t index) {
  const std::size_t num = share.num_elements;
  switch (share.operation) {
    case Operation::allreduce:
      return sum_of(share.num_ranks, index);
    case Operation::reduce_scatter:
      return sum_of(share.num_ranks, share.place * num + index);
    case Operation::allgather:
      return number_of(share.operation, index / num, index % num);
    case Operation::alltoall:
      break;
  }
  return number_of(share.operation, index / num, share.place * num + index % num);
}

}  // namespace

std::size_t Share::num_sent() const {
  const bool has_blocks = operation == Operation::reduce_scatter || operation == Operation::alltoall;
  return num_elements * (has_blocks ? num_ranks : 1);
}

std::size_t Share::num_received() const {
  const bool has_blocks = operation == Operation::allgather || operation == Operation::alltoall;
  return num_elements * (has_blocks ? num_ranks : 1);
}

void fill(const Share& share, std::span<float> numbers) {
  assert(numbers.size() == share.num_sent());
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    numbers[index] = number_of(share.operation, share.place, index);
  }
}

std::optional<WrongNumber> first_wrong(const Share& share, std::span<const float> numbers) {
  assert(numbers.size() == share.num_received());
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    const float right = expected(share, index);
    if (numbers[index] != right) return WrongNumber{index, right, numbers[index]};
  }
  return std::nullopt;
}

}  // namespace leadline::bench::collective
