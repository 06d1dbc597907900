// SPDX-License-Identifier: Apache-2.0
// A barrier of those ranks of a funnel that do I/O, out of messages of one byte, while other messages go on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/messages.hpp"

namespace leadline::bench::io {

/// Dissemination, see kernel/barrier.hpp.
class OpenerBarrier {
 public:
  using Ticket = transport::Messages::Ticket;

  static constexpr std::size_t num_tickets = 2;

  /// `openers` ascending, `rank` one of them; tickets first_ticket and the next belong to it.
  OpenerBarrier(const std::vector<std::int32_t>& openers, std::int32_t rank, transport::Messages& messages,
                Ticket first_ticket);

  /// All openers, equally often. `handle` is called for each ticket of somebody else that is handed out meanwhile.
  template <class Handle>
  void pass(Handle&& handle) {
    for (const Round& round : rounds_) {
      messages_.post_receive(round.from, {&tokens_[0], 1}, first_ticket_);
      messages_.post_send(round.to, {&tokens_[1], 1}, first_ticket_ + 1);
      for (int num_left = 2; num_left > 0;) {
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

  /// Whom such a barrier has to do with.
  static std::vector<std::int32_t> partners(const std::vector<std::int32_t>& openers, std::int32_t rank);

 private:
  struct Round {
    std::int32_t to = 0, from = 0;
  };

  static std::vector<Round> rounds_of(const std::vector<std::int32_t>& openers, std::int32_t rank);

  std::vector<Round> rounds_;
  transport::Messages& messages_;
  Ticket first_ticket_;
  std::array<std::byte, 2> tokens_{};
};

}  // namespace leadline::bench::io
