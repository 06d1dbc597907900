// SPDX-License-Identifier: Apache-2.0
// What ranks send in a collective operation, and whether what they receive is right: whole numbers, whose sums are
// exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bench/collective/request.hpp"

namespace leadline::bench::collective {

/// One rank's part of an operation: it is number `place` of `num_ranks`; `num_elements` as in CollectiveCall.
struct Share {
  Operation operation = Operation::allreduce;
  std::size_t place = 0, num_ranks = 1;
  std::size_t num_elements = 0;

  std::size_t num_sent() const;
  std::size_t num_received() const;
};

/// Numbers to send; as many as are sent.
void fill(const Share& share, std::span<float> numbers);

struct WrongNumber {
  std::size_t index = 0;
  float expected = 0, found = 0;
};

/// The first of those received that is wrong.
std::optional<WrongNumber> first_wrong(const Share& share, std::span<const float> numbers);

}  // namespace leadline::bench::collective
