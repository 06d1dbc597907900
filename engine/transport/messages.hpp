// SPDX-License-Identifier: Apache-2.0
// Messages one by one, with work between them: for the funnel of the parallel file test, whose objects are large enough
// for a virtual call each, and for schedules and streams of the congestion test. Part of the contract of a transport.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cluster/rendezvous.hpp"

namespace leadline::transport {

/// One rank's end of many streams of messages. Made by Transport::messages(); links to all partners are open already.
/// Messages between the same two ranks arrive in the order in which they were posted, whatever their sizes; the
/// receiver posts exactly the sender's size. Sizes are at least 1. Everything that was posted must be handed out before
/// the end. Throws Error(run_failed) when a link breaks; where the transport goes on without lost links
/// (Transport::give_up_silent_links()) it is one of lost_links() instead.
class Messages {
 public:
  /// Chosen by the caller, below max_tickets; free again once handed out.
  using Ticket = std::uint32_t;

  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  virtual ~Messages() = default;

  /// Local, do not block; the memory must stay untouched until the ticket was handed out.
  virtual void post_send(int partner, std::span<const std::byte> data, Ticket ticket) = 0;
  virtual void post_receive(int partner, std::span<std::byte> data, Ticket ticket) = 0;

  /// Local, does not block: drives everything on; the ticket of something that is done and was not handed out, if any.
  virtual std::optional<Ticket> poll() = 0;

  /// Blocks, as the transport waits, until there is something to hand out. Something must be posted. May otherwise wait
  /// for ever: the watch (cluster/) ends a process whose partner is gone.
  virtual Ticket await_any() = 0;

  /// Local: links that broke, each once. What was posted to or from such a partner, or is posted later, is handed out
  /// all the same, whatever came of it.
  virtual std::span<const cluster::ConnectionLost> lost_links() const { return {}; }

  bool is_lost(int partner) const {
    return std::ranges::find(lost_links(), partner, &cluster::ConnectionLost::partner) != lost_links().end();
  }
};

}  // namespace leadline::transport
