// SPDX-License-Identifier: Apache-2.0
// The protocol of a funnel: control messages between a sender and its I/O rank, and a barrier of the I/O ranks.
//
// Writing: the I/O rank posts receives for a buffer's slots, then grants each sender concerned a credit of so many
// objects; the sender sends its objects in order, never more than were granted. Reading is the mirror: the owner posts
// a receive, then grants its I/O rank that one object; after the last one comes an EndOfReading.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bench/io/object_loop.hpp"
#include "bench/links.hpp"
#include "transport/messages.hpp"

namespace leadline::bench::io {

/// What ranks of a funnel send over.
struct FunnelLinks {
  transport::Messages& messages;
  std::vector<std::int32_t> partners;  ///< ascending; those with a link when these were opened
  /// Those that meet before each write; empty where none do. One that is lost later keeps its place.
  std::vector<std::int32_t> meeting_io_ranks;
};

/// Dissemination, see kernel/barrier.hpp. Two ranks without a link do not wait for one another, other than through
/// third ones.
class OpenerBarrier {
 public:
  using Ticket = transport::Messages::Ticket;

  static constexpr std::size_t num_tickets = 2;

  /// `links.meeting_io_ranks` ascending, `rank` one of them; tickets first_ticket and the next belong to it.
  OpenerBarrier(const FunnelLinks& links, std::int32_t rank, Ticket first_ticket);

  /// All openers, equally often. `handle` is called for each ticket of somebody else that is handed out meanwhile.
  template <class Handle>
  void pass(Handle&& handle) {
    for (const Round& round : rounds_) {
      int num_left = 0;
      if (round.from) {
        messages_.post_receive(*round.from, {&tokens_[0], 1}, first_ticket_);
        ++num_left;
      }
      if (round.to) {
        messages_.post_send(*round.to, {&tokens_[1], 1}, first_ticket_ + 1);
        ++num_left;
      }
      while (num_left > 0) {
        const Ticket ticket = messages_.await_any();
        const bool is_ours = ticket >= first_ticket_ && ticket < first_ticket_ + num_tickets;
        if (is_ours) {
          --num_left;
        } else {
          handle(ticket);
        }
      }
    }
  }

  /// Whom such a barrier has to do with, with their links or without.
  static std::vector<std::int32_t> partners(const std::vector<std::int32_t>& openers, std::int32_t rank);

 private:
  struct Round {
    std::optional<std::int32_t> to, from;  ///< none: without a link
  };

  static std::vector<Round> rounds_of(const std::vector<std::int32_t>& openers, std::int32_t rank);

  std::vector<Round> rounds_;
  transport::Messages& messages_;
  Ticket first_ticket_;
  std::array<std::byte, 2> tokens_{};
};

/// So many objects more may be sent.
using Credit = std::uint64_t;

inline constexpr std::uint64_t no_object = std::numeric_limits<std::uint64_t>::max();

/// What the I/O rank knows about the objects of one owner that were sent. Offsets ascend with an owner's objects, so
/// that of a file that ends early all from some object on are concerned.
struct EndOfReading {
  std::uint64_t first_short = no_object;   ///< the first that was not read whole, since the file ends
  std::uint64_t bytes_of_short = 0;        ///< of it
  std::uint64_t first_unread = no_object;  ///< the first that was not read because of an error
};

/// Whether I/O ranks must take equally many steps, since each step is a collective call or has a barrier before it.
inline bool has_equal_steps(const PhaseWork& work) {
  const IoRequest& request = work.request();
  if (request.no_file) return false;
  const bool shares_calls = request.collective && request.movement == schedule::Movement::n_m_1;
  return shares_calls || (request.barrier && work.writes());
}

/// Collective over all ranks: the greatest of their numbers.
std::uint64_t greatest_number_of_steps(PhaseWork& work, std::uint64_t own);

/// Blocks until a message is sent or received; the time counts as `state`.
inline transport::Messages::Ticket await_message(PhaseWork& work, transport::Messages& messages, IoTime state) {
  const InTransport in_transport(work.stage.cluster.progress_counter());
  const Recorder::StateTimer spending(work.recorder, state);
  return messages.await_any();
}

/// Tickets that ranks of such a plan need at most.
std::size_t num_tickets(const IoRequest& request, const Plan& plan, int rank);

}  // namespace leadline::bench::io
