// SPDX-License-Identifier: Apache-2.0
// The buffers of posted messages, for links that move them only when they are completed.
#pragma once

#include <cassert>
#include <cstddef>
#include <vector>

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

}  // namespace leadline::transport
