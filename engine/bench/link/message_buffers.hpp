// SPDX-License-Identifier: Apache-2.0
// The send and receive buffers of one rank: their contents, and whether what arrived is what the partner sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/link/request.hpp"
#include "kernel/exchange.hpp"
#include "memory/buffer.hpp"
#include "memory/pattern.hpp"

namespace leadline::bench::link {

/// A byte in a receive buffer that its partner's buffer of the same number does not hold.
struct WrongByteInBuffer {
  std::uint32_t buffer = 0;
  memory::WrongByte byte;
};

/// As many buffers to send from as to receive into, each large enough for every message of the run. Send buffers are
/// filled with contents that follow from the rank, its number and the seed: so each rank knows what every other
/// sends.
class MessageBuffers {
 public:
  /// Throws Error(something_missing) where the allocator cannot provide them.
  MessageBuffers(const LinkRequest& request, int rank);

  kernel::Buffers all() const;

  /// Gives the send buffers their contents, again after somebody has used them for others. Throws Error likewise.
  void fill_sent();

  /// Writes over the first `size_bytes` of each receive buffer, so that a missing message is not taken for the one
  /// before it. Throws Error, where the memory is a device's.
  void wipe_received(std::size_t size_bytes);

  /// The first byte that differs from what `partner` sent, in the receive buffers of `num_messages` messages.
  std::optional<WrongByteInBuffer> first_wrong_byte(int partner, std::size_t size_bytes, std::uint64_t num_messages);

  std::uint32_t num_reached(std::uint64_t num_messages) const;

 private:
  memory::PatternKey key_of(int rank, std::uint32_t buffer) const;

  int rank_;
  const memory::Allocator& allocator_;
  Fill fill_;
  std::uint64_t seed_;
  std::uint32_t num_;
  std::size_t stride_bytes_;
  memory::Buffer send_, receive_;
  std::vector<std::byte> staging_;  ///< ordinary memory between a device and the processor
};

}  // namespace leadline::bench::link
