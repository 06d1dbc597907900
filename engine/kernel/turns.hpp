// SPDX-License-Identifier: Apache-2.0
// Which buffers a message uses: the same ones always, or those that are next in turn.
#pragma once

#include <cstddef>

#include "kernel/exchange.hpp"

namespace leadline::kernel {

// The loops are compiled over one of these two. They take it by value and hand it back, so that the first costs two
// registers and nothing a message, and the second goes on where the batch before it ended.

/// Buffers::num is 1.
class OneBuffer {
 public:
  explicit OneBuffer(const Buffers& buffers) : send_(buffers.send), receive_(buffers.receive) {}

  const std::byte* next_to_send() const { return send_; }
  std::byte* next_to_receive() const { return receive_; }

 private:
  const std::byte* send_;
  std::byte* receive_;
};

/// Buffers::num is more.
class BuffersInTurn {
 public:
  explicit BuffersInTurn(const Buffers& buffers)
      : send_(buffers.send),
        receive_(buffers.receive),
        stride_bytes_(buffers.stride_bytes),
        end_bytes_(buffers.num * buffers.stride_bytes) {}

  const std::byte* next_to_send() { return send_ + step(send_at_bytes_); }
  std::byte* next_to_receive() { return receive_ + step(receive_at_bytes_); }

 private:
  std::size_t step(std::size_t& at_bytes) const {
    const std::size_t here = at_bytes;
    at_bytes = here + stride_bytes_ == end_bytes_ ? 0 : here + stride_bytes_;
    return here;
  }

  const std::byte* send_;
  std::byte* receive_;
  std::size_t stride_bytes_, end_bytes_;
  std::size_t send_at_bytes_ = 0, receive_at_bytes_ = 0;
};

}  // namespace leadline::kernel
