// SPDX-License-Identifier: Apache-2.0
// How much memory a measurement touches: what is to be registered with an adapter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernel/exchange.hpp"
#include "kernel/neighbour_exchange.hpp"

namespace leadline::transport {

/// Bytes from the first buffer to the end of the last, in either direction.
inline std::size_t reach(std::size_t message_size_bytes, const kernel::Buffers& buffers) {
  return message_size_bytes == 0 ? 0 : (buffers.num - 1) * buffers.stride_bytes + message_size_bytes;
}

/// Bytes from the first slot to the end of the last that is used.
inline std::size_t reach(const kernel::NeighbourExchange& exchange, const kernel::NeighbourBuffers& buffers) {
  if (exchange.channels.empty() || exchange.message_size_bytes == 0) return 0;
  std::size_t last_slot = 0;
  for (const kernel::NeighbourChannel& channel : exchange.channels) {
    last_slot = std::max<std::size_t>(last_slot, channel.slot);
  }
  return last_slot * buffers.stride_bytes + exchange.message_size_bytes;
}

}  // namespace leadline::transport
