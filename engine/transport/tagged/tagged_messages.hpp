// SPDX-License-Identifier: Apache-2.0
// Messages one by one over a library of tagged messages.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/rendezvous.hpp"
#include "model/request.hpp"
#include "transport/messages.hpp"
#include "transport/tagged/peers.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::tagged {

template <Port P>
class TaggedMessages final : public Messages {
 public:
  TaggedMessages(P& port, const Peers<P>& peers, std::span<const std::int32_t> partners, std::size_t max_tickets,
                 WaitMode wait)
      : port_(port),
        peers_(peers),
        wait_(wait),
        goes_on_(peers.gives_up_silent_links()),
        check_(port, peers.loss_check(partners)),
        messages_(max_tickets) {
    for (auto& message : messages_) message = std::make_shared<Message>();
    under_way_.reserve(max_tickets);
  }

  /// What is under way is abandoned, as after an error; the library may go on to use its requests.
  ~TaggedMessages() override {
    if constexpr (P::survives_lost_partners) {
      for (const Ticket ticket : under_way_) {
        if (is_lost(messages_[ticket]->partner)) continue;  // done already
        port_.abandon(messages_[ticket]->request);
        Peers<P>::keep(std::move(messages_[ticket]));
      }
    }
  }

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override {
    Message& message = added(ticket, data, partner);
    if constexpr (BoundsPosts<P>) {
      message.out = data;
      queue(sends_, ticket);
    } else {
      unless_lost(partner, [&] {
        port_.post_send(peers_.at(partner), {Kind::single, peers_.own_rank()}, message.memory, data.data(), data.size(),
                        message.request);
      });
    }
  }

  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override {
    Message& message = added(ticket, data, partner);
    if constexpr (BoundsPosts<P>) {
      message.in = data;
      queue(receives_, ticket);
    } else {
      unless_lost(partner, [&] {
        port_.post_receive(peers_.at(partner), {Kind::single, partner}, message.memory, data.data(), data.size(),
                           message.request);
      });
    }
  }

  std::optional<Ticket> poll() override {
    for (;;) {
      try {
        port_.progress();
        post_queued();
        return take_done();
      } catch (const cluster::ConnectionLost& lost) {
        lose(lost);
      }
    }
  }

  Ticket await_any() override {
    assert(!under_way_.empty() && "nothing is posted that could come");
    std::optional<Ticket> ticket;
    const auto is_over = [&] {
      post_queued();
      return (ticket = take_done()).has_value();
    };
    while (!ticket) {
      try {
        if (wait_ == WaitMode::spin) {
          drive_until<WaitMode::spin>(port_, is_over);
        } else {
          drive_until<WaitMode::yield>(port_, is_over);
        }
      } catch (const cluster::ConnectionLost& lost) {
        lose(lost);
      }
    }
    return *ticket;
  }

  std::span<const cluster::ConnectionLost> lost_links() const override { return lost_links_; }

 private:
  struct Message {
    typename P::Request request{};
    typename P::Memory memory{};
    int partner = -1;
    std::span<const std::byte> out{};  ///< of a send that may be queued
    std::span<std::byte> in{};         ///< of a receive
    bool is_queued = false;
  };

  Message& added(Ticket ticket, std::span<const std::byte> data, int partner) {
    assert(under_way_.size() < messages_.size() && "more is posted than there are tickets");
    require_room_for(data.size(), port_);
    under_way_.push_back(ticket);
    Message& message = *messages_[ticket];
    message.memory = port_.memory(data.data(), data.size());
    message.partner = partner;
    return message;
  }

  /// Also when another link is lost meanwhile.
  template <class Work>
  void unless_lost(int partner, const Work& work) {
    while (lost_links_.empty() || !is_lost(partner)) {
      try {
        on_link(partner, work);
        return;
      } catch (const cluster::ConnectionLost& lost) {
        lose(lost);
      }
    }
  }

  /// What the library does not take yet is posted when there is room, in the same order. A receive must not hold up the
  /// sends for which the partner waits before it sends.
  void queue(std::deque<Ticket>& queued, Ticket ticket) {
    Message& message = *messages_[ticket];
    if (is_of_lost(message)) return;
    message.is_queued = true;
    queued.push_back(ticket);
    if (queued.size() == 1) post_queued();
  }

  void post_queued() {
    if constexpr (BoundsPosts<P>) {
      post_queued(sends_, [this](Message& message) {
        return port_.try_post_send(peers_.at(message.partner), {Kind::single, peers_.own_rank()}, message.memory,
                                   message.out.data(), message.out.size(), message.request);
      });
      post_queued(receives_, [this](Message& message) {
        return port_.try_post_receive(peers_.at(message.partner), {Kind::single, message.partner}, message.memory,
                                      message.in.data(), message.in.size(), message.request);
      });
    }
  }

  template <class TryToPost>
  void post_queued(std::deque<Ticket>& queued, const TryToPost& try_to_post) {
    while (!queued.empty()) {
      Message& message = *messages_[queued.front()];
      bool is_posted = false;
      unless_lost(message.partner, [&] { is_posted = try_to_post(message); });
      if (is_of_lost(message)) continue;  // none of this partner's is queued any more
      if (!is_posted) return;
      message.is_queued = false;
      queued.pop_front();
    }
  }

  /// The library may go on to use what was under way.
  [[gnu::cold]] void lose(const cluster::ConnectionLost& lost) {
    if (!goes_on_) throw lost;
    if (is_lost(lost.partner())) return;
    lost_links_.push_back(lost);
    peers_.shut(lost.partner());  // which may wait for what does not come any more
    for (std::deque<Ticket>* const queued : {&sends_, &receives_}) {
      std::erase_if(*queued, [&](Ticket ticket) { return messages_[ticket]->partner == lost.partner(); });
    }
    if constexpr (P::survives_lost_partners) {
      for (const Ticket ticket : under_way_) {
        std::shared_ptr<Message>& message = messages_[ticket];
        if (message->partner != lost.partner()) continue;
        port_.abandon(message->request);
        Peers<P>::keep(std::exchange(message, std::make_shared<Message>()));
        message->partner = lost.partner();
      }
    }
  }

  bool is_of_lost(const Message& message) const { return !lost_links_.empty() && is_lost(message.partner); }

  bool is_over(Message& message) {
    if (is_of_lost(message)) return true;
    if (message.is_queued) return false;
    bool is_done = false;
    on_link(message.partner, [&] { is_done = port_.is_done(message.request); });
    return is_done;
  }

  std::optional<Ticket> take_done() {
    for (Ticket& ticket : under_way_) {
      if (!is_over(*messages_[ticket])) continue;
      messages_[ticket]->memory = {};
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
  bool goes_on_;
  WithLossCheck<P> check_;
  std::vector<std::shared_ptr<Message>> messages_;  ///< by ticket
  std::vector<Ticket> under_way_;
  std::deque<Ticket> sends_, receives_;  ///< those that the library does not take yet
  std::vector<cluster::ConnectionLost> lost_links_;
};

}  // namespace leadline::transport::tagged
