// SPDX-License-Identifier: Apache-2.0
// The memory of one rank for the messages of a bisection test: one to send from, one to receive into.
#pragma once

#include "bench/message_slots.hpp"
#include "model/bisection_request.hpp"

namespace leadline::bench::bisection {

/// Each is large enough for every message of the run.
class MessageBuffers {
 public:
  /// Throws Error(something_missing) where the allocator cannot provide them.
  MessageBuffers(const BisectionRequest& request, int rank) : slots_(request, 1, rank) {}

  kernel::NeighbourBuffers all() const { return slots_.all(); }

 private:
  MessageSlots slots_;
};

}  // namespace leadline::bench::bisection
