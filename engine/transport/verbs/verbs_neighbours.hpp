// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours over reliable connections; tokens of barriers come between the messages, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cluster/rendezvous.hpp"
#include "core/clock.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "transport/verbs/flow.hpp"
#include "transport/verbs/peers.hpp"

namespace leadline::transport::verbs {

/// See kernel/neighbours.hpp; `instead` is a barrier in place of one over these links. What comes from a partner is
/// known beforehand: the token of the barrier, if it sends one, the messages of all steps (of a stream all messages),
/// the token of the closing barrier, and this as often as there are exchanges. Where silent links are given up, what is
/// to pass over one that is lost counts as done.
class VerbsNeighbours {
 public:
  /// Throws Error(something_missing) where not all links can be open at once.
  VerbsNeighbours(Adapter& adapter, const Peers& peers, int num_ranks, const kernel::NeighbourExchange& exchange,
                  const kernel::NeighbourBuffers& buffers, const kernel::NeighbourTask& task,
                  std::function<void()> instead);

  void barrier() {
    if (barrier_) return barrier_();
    kernel::disseminate(*this, rounds_.size());
  }
  void start() const {}

  void send(std::size_t channel) {
    Channel& at = channels_[channel];
    unless_lost(at.flow, [&](Flow& flow) { flow.post(at.out, Notice::always); });
    if (at.flow != nullptr && !at.flow->is_copied()) drive([&] { return has_gone(at); });
  }
  void receive(std::size_t channel) {
    Channel& at = channels_[channel];
    await(at.flow);
  }

  void post_send(std::size_t channel) {
    Channel& at = channels_[channel];
    sending_[num_sending_++] = channel;
    unless_lost(at.flow, [&](Flow& flow) { flow.post(at.out, Notice::always); });
  }
  void post_receive(std::size_t channel) {
    Channel& at = channels_[channel];
    awaited_[num_awaited_++] = channel;
    unless_lost(at.flow, [&](Flow& flow) { at.awaited = flow.ask(); });
  }

  std::size_t await_any_receive() {
    std::size_t which = 0;
    drive([&] { return any_of(awaited_, num_awaited_, has_come, which); });
    return take(awaited_, num_awaited_, which);
  }

  std::size_t await_any_posted() {
    std::size_t which = 0;
    bool is_receive = false;
    drive([&] {
      is_receive = any_of(awaited_, num_awaited_, has_come, which);
      return is_receive || any_of(sending_, num_sending_, has_gone, which);
    });
    return is_receive ? take(awaited_, num_awaited_, which) : take(sending_, num_sending_, which);
  }

  void complete_posted() {
    for (std::size_t i = 0; i < num_awaited_; ++i) {
      drive([&] { return has_come(channels_[awaited_[i]]); });
    }
    await_sends();
    num_awaited_ = num_sending_ = 0;
  }

  /// All that was sent, tokens included.
  void await_sends() {
    drive([&] { return adapter_.has_sent_all(); });
  }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

  // See kernel/barrier.hpp.
  void send_token(std::size_t round) {
    unless_lost(rounds_[round].to, [](Flow& flow) { flow.post_empty(); });
  }
  void await_token(std::size_t round) { await(rounds_[round].from); }

  const std::vector<cluster::ConnectionLost>& lost_links() const { return lost_links_; }

 private:
  // Flows are null where the link is lost.
  struct Channel {
    Flow* flow;
    const std::byte* out;
    std::uint64_t awaited = 0;
  };
  struct Round {
    Flow *to, *from;
  };

  static bool has_come(const Channel& channel) {
    return channel.flow == nullptr || channel.flow->has_come(channel.awaited);
  }
  /// With everything before it to this partner.
  static bool has_gone(const Channel& channel) {
    return channel.flow == nullptr || channel.flow->peer().num_unreaped == 0;
  }

  [[gnu::cold]] void lose(const cluster::ConnectionLost& lost);

  /// Also when another link is lost meanwhile. The work throws before it has done anything, or when its link is lost.
  template <class Work>
  void unless_lost(Flow* const& flow, const Work& work) {
    while (flow != nullptr) {
      try {
        return work(*flow);
      } catch (const cluster::ConnectionLost& lost) {
        lose(lost);
      }
    }
  }

  template <class IsOver>
  void drive(const IsOver& is_over) {
    for (;;) {
      try {
        return adapter_.wait_until(is_over);
      } catch (const cluster::ConnectionLost& lost) {
        lose(lost);
      }
    }
  }

  /// The next message.
  void await(Flow* const& from) {
    std::uint64_t which = 0;
    unless_lost(from, [&](Flow& flow) { which = flow.ask(); });
    drive([&] { return from == nullptr || from->has_come(which); });
  }

  /// Which of the first `num` entries of `indexes` it is.
  template <class Is>
  bool any_of(const std::vector<std::size_t>& indexes, std::size_t num, const Is& is, std::size_t& which) const {
    for (which = 0; which < num; ++which) {
      if (is(channels_[indexes[which]])) return true;
    }
    return false;
  }

  static std::size_t take(std::vector<std::size_t>& indexes, std::size_t& num, std::size_t which) {
    const std::size_t channel = indexes[which];
    indexes[which] = indexes[--num];
    return channel;
  }

  Adapter& adapter_;
  bool goes_on_;
  std::function<void()> barrier_;  ///< empty: over these links
  Memory memory_out_, memory_in_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<Channel> channels_;
  std::vector<Round> rounds_;
  std::vector<std::size_t> awaited_;  ///< channels whose message has not been handed out
  std::vector<std::size_t> sending_;  ///< likewise of what was sent
  std::size_t num_awaited_ = 0, num_sending_ = 0;
  std::vector<cluster::ConnectionLost> lost_links_;
};

}  // namespace leadline::transport::verbs
