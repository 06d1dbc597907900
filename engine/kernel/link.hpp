// SPDX-License-Identifier: Apache-2.0
// The contract between the timed loops and a transport: one side's open channel to a partner, for one measurement.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace leadline::kernel {

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
