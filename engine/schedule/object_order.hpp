// SPDX-License-Identifier: Apache-2.0
// The order in which a rank takes its objects: as they are numbered, or at random, each once. A pure function.
#pragma once

#include <cstdint>

namespace leadline::schedule {

/// A permutation of [0, num), without a table of it.
class ObjectOrder {
 public:
  /// Of a rank; seed 0: as they are numbered.
  ObjectOrder(std::uint64_t num, std::uint64_t seed, std::int32_t rank);

  /// The object that comes at this position; `position` < num.
  std::uint64_t at(std::uint64_t position) const;

 private:
  std::uint64_t shuffled(std::uint64_t value) const;

  std::uint64_t num_;
  std::uint64_t key_ = 0;   ///< 0: as they are numbered
  unsigned half_bits_ = 0;  ///< of the least number of an even number of bits that holds all of them
};

}  // namespace leadline::schedule
