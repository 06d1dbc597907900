// SPDX-License-Identifier: Apache-2.0
// Messages one by one over a library of tagged messages.
#pragma once

#include <cassert>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/request.hpp"
#include "transport/messages.hpp"
#include "transport/tagged/peers.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::tagged {

template <Port P>
class TaggedMessages final : public Messages {
 public:
  TaggedMessages(P& port, const Peers<P>& peers, std::size_t max_tickets, WaitMode wait)
      : port_(port), peers_(peers), wait_(wait), messages_(max_tickets) {
    under_way_.reserve(max_tickets);
  }

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override {
    Message& message = added(ticket, data);
    port_.post_send(peers_.at(partner), {Kind::single, peers_.own_rank()}, message.memory, data.data(), data.size(),
                    message.request);
  }

  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override {
    Message& message = added(ticket, data);
    port_.post_receive(peers_.at(partner), {Kind::single, partner}, message.memory, data.data(), data.size(),
                       message.request);
  }

  std::optional<Ticket> poll() override {
    port_.progress();
    return take_done();
  }

  Ticket await_any() override {
    assert(!under_way_.empty() && "nothing is posted that could come");
    std::optional<Ticket> ticket;
    const auto is_over = [&] { return (ticket = take_done()).has_value(); };
    if (wait_ == WaitMode::spin) {
      drive_until<WaitMode::spin>(port_, is_over);
    } else {
      drive_until<WaitMode::yield>(port_, is_over);
    }
    return *ticket;
  }

 private:
  struct Message {
    typename P::Request request{};
    typename P::Memory memory{};
  };

  Message& added(Ticket ticket, std::span<const std::byte> data) {
    assert(under_way_.size() < messages_.size() && "more is posted than there are tickets");
    require_room_for(data.size(), port_);
    under_way_.push_back(ticket);
    messages_[ticket].memory = port_.memory(data.data(), data.size());
    return messages_[ticket];
  }

  std::optional<Ticket> take_done() {
    for (Ticket& ticket : under_way_) {
      if (!port_.is_done(messages_[ticket].request)) continue;
      messages_[ticket].memory = {};
      const Ticket done = ticket;
      ticket = under_way_.back();
      under_way_.pop_back();
      return done;
    }
    return std::nullopt;
  }

  P& port_;
  const Peers<P>& peers_;
  WaitMode wait_;
  std::vector<Message> messages_;  ///< by ticket
  std::vector<Ticket> under_way_;
};

}  // namespace leadline::transport::tagged
