// SPDX-License-Identifier: Apache-2.0
// What one measurement between two ranks is: the specification that a transport's timed loops follow, and the link that
// it gives them: one side's open channel to a partner.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/progress_counter.hpp"
#include "model/samples.hpp"

namespace leadline::kernel {

/// Which part a rank plays in a measurement. In a bidirectional one both lead.
enum class Role : std::uint8_t {
  lead,    ///< sends first, and its clock counts
  follow,  ///< answers
};

struct Exchange {
  Direction direction = Direction::semidirectional;
  Role role = Role::lead;
  std::size_t message_size_bytes = 0;
  std::uint64_t num_messages = 1;  ///< timed; spread evenly over the samples that the caller hands in
  std::uint64_t num_warmup = 0;    ///< untimed, same exchange, directly before
  std::uint32_t window = 1;        ///< messages in flight (unidirectional, bidirectional)
};

/// The most messages that are posted in one direction and not done: what a link must have room for.
constexpr std::uint64_t num_in_flight(const Exchange& exchange) {
  if (exchange.direction == Direction::semidirectional) return 1;
  const std::uint64_t longest = std::max(exchange.num_messages, exchange.num_warmup);
  return std::clamp<std::uint64_t>(exchange.window, 1, std::max<std::uint64_t>(longest, 1));
}

/// Separate stretches of memory, each at least message_size_bytes; the caller owns them. With several, message i goes
/// out of and into number i modulo `num`, counted from the first warm-up message on.
struct Buffers {
  std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::uint32_t num = 1;         ///< so many to send from, and as many to receive into
  std::size_t stride_bytes = 0;  ///< from each to the next
};

/// One pairwise exchange among many: in step i a rank exchanges one message each way with partners[i], or rests.
struct AllToAllSteps {
  static constexpr std::int32_t rests = -1;
  std::span<const std::int32_t> partners;  ///< of this rank, by step; the steps of all ranks fit together
  std::size_t message_size_bytes = 0;
};

/// The first wrong byte that a verification found.
struct Mismatch {
  std::uint64_t message = 0;  ///< 0-based
  std::uint64_t byte = 0;     ///< 0-based
  std::uint8_t expected = 0, found = 0;
};

/// What a transport's own link type offers to the loops, which are compiled over it; nothing here is virtual.
///
/// A link is made for one measurement and knows its message size, so that it may prepare what depends on it; every
/// `size` that it is given is that size. Failures do not come back as values: a link that breaks throws
/// Error(run_failed) from a function off the hot path.
///
/// send, receive      Block until the buffer is free again, or the message is there.
/// post_send, _receive  Do not block, at most num_in_flight(exchange) of each before complete_posted(). Each may name a
///                    buffer of its own, or several the same one.
/// complete_posted    Blocks until everything posted is done, driving both directions at once.
/// send_receipt, await_receipt  A message without contents against the stream.
/// now_ns             The clock of this link's times: leadline::now_ns(), or the virtual one of a simulated fabric.
template <class L>
concept Link = requires(L& link, const std::byte* from, std::byte* to, std::size_t size) {
  link.send(from, size);
  link.receive(to, size);
  link.post_send(from, size);
  link.post_receive(to, size);
  link.complete_posted();
  link.send_receipt();
  link.await_receipt();
  { link.now_ns() } -> std::same_as<std::uint64_t>;
};

}  // namespace leadline::kernel
