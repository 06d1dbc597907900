// SPDX-License-Identifier: Apache-2.0
// Objects until a time limit, and equally many on all ranks.
#pragma once

#include <cstdint>

#include "bench/io/object_loop.hpp"

namespace leadline::bench::io {

struct Moved {
  std::uint64_t num_objects = 0;  ///< of every rank
  double stop_ns = 0;             ///< when the limit passed; 0 = it did not
};

/// Collective: objects [0, num_objects) of every rank, or as many as the time limit lets them. Ranks that need not move
/// in step each stop by their own clock; then all go on to the greatest number that any of them had done. Others agree
/// on batch after batch, by rank 0's clock. Where a rank fails, no other is kept waiting for its sake.
Moved move_objects(PhaseWork& work, ObjectLoop& loop, std::uint64_t num_objects);

}  // namespace leadline::bench::io
