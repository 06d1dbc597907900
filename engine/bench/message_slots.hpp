// SPDX-License-Identifier: Apache-2.0
// The memory of one rank for its messages: as many slots to send from as to receive into.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/neighbour_exchange.hpp"
#include "memory/buffer.hpp"
#include "model/request.hpp"

namespace leadline::bench {

/// Each slot is large enough for every message of the run. What lies in those to send from follows from rank, slot and
/// seed.
class MessageSlots {
 public:
  /// `num`: see num_slots() of the plan; a rank without channels needs none. Throws Error(something_missing) where the
  /// allocator cannot provide them.
  MessageSlots(const RunRequest& request, std::uint32_t num, int rank);

  std::uint32_t num() const { return num_; }
  kernel::NeighbourBuffers all() const { return {send_.data(), receive_.data(), stride_bytes_}; }

 private:
  std::uint32_t num_;
  std::size_t stride_bytes_;
  memory::Buffer send_, receive_;
};

}  // namespace leadline::bench
