// SPDX-License-Identifier: Apache-2.0
// Buffers of a measurement: those of posted messages, and how much memory they span.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/exchange.hpp"
#include "kernel/neighbour_exchange.hpp"

namespace leadline::transport {

/// First in, first out. All its memory is there from the start.
template <class Byte>
class PostedQueue {
 public:
  explicit PostedQueue(std::size_t capacity) : buffers_(capacity) {}

  bool is_empty() const { return first_ == end_; }
  Byte* first() const { return buffers_[first_]; }

  void add(Byte* buffer) {
    assert(end_ < buffers_.size() && "more is posted than the measurement said");
    buffers_[end_++] = buffer;
  }

  /// Everything is done before anything is posted again, so nothing ever wraps around.
  void drop_first() {
    if (++first_ == end_) first_ = end_ = 0;
  }

 private:
  std::vector<Byte*> buffers_;
  std::size_t first_ = 0, end_ = 0;
};

/// What a link needs of it. Outlives the link, so that a link may be made where nothing may be allocated.
struct Posted {
  explicit Posted(std::size_t capacity) : sends(capacity), receives(capacity) {}

  PostedQueue<const std::byte> sends;
  PostedQueue<std::byte> receives;
  std::size_t size = 0;  ///< of each
};

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
