// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours over reliable connections; tokens of barriers come between the messages, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/clock.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "transport/verbs/flow.hpp"
#include "transport/verbs/peers.hpp"

namespace leadline::transport::verbs {

/// See kernel/neighbours.hpp. What comes from a partner is known beforehand: the token of the barrier, if it sends one,
/// the messages of all steps (of a stream all messages), the token of the closing barrier, and this as often as there
/// are exchanges.
class VerbsNeighbours {
 public:
  VerbsNeighbours(Adapter& adapter, const Peers& peers, int num_ranks, const kernel::NeighbourExchange& exchange,
                  const kernel::NeighbourBuffers& buffers, const kernel::NeighbourTask& task);

  void barrier() { kernel::disseminate(*this, rounds_.size()); }
  void start() const {}

  void send(std::size_t channel) {
    Flow& flow = *channels_[channel].flow;
    flow.post(channels_[channel].out, Notice::always);
    if (!flow.is_copied()) flow.await_sends();
  }
  void receive(std::size_t channel) { channels_[channel].flow->await_next(); }

  void post_send(std::size_t channel) {
    sending_[num_sending_++] = channel;
    channels_[channel].flow->post(channels_[channel].out, Notice::always);
  }
  void post_receive(std::size_t channel) {
    channels_[channel].awaited = channels_[channel].flow->ask();
    awaited_[num_awaited_++] = channel;
  }

  std::size_t await_any_receive() {
    std::size_t which = 0;
    adapter_.wait_until([&] { return any_of(awaited_, num_awaited_, has_come, which); });
    return take(awaited_, num_awaited_, which);
  }

  std::size_t await_any_posted() {
    std::size_t which = 0;
    bool is_receive = false;
    adapter_.wait_until([&] {
      is_receive = any_of(awaited_, num_awaited_, has_come, which);
      return is_receive || any_of(sending_, num_sending_, has_gone, which);
    });
    return is_receive ? take(awaited_, num_awaited_, which) : take(sending_, num_sending_, which);
  }

  void complete_posted() {
    for (std::size_t i = 0; i < num_awaited_; ++i) {
      adapter_.wait_until([&] { return has_come(channels_[awaited_[i]]); });
    }
    adapter_.wait_until([&] { return adapter_.has_sent_all(); });
    num_awaited_ = num_sending_ = 0;
  }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

  // See kernel/barrier.hpp.
  void send_token(std::size_t round) { rounds_[round].to->post_empty(); }
  void await_token(std::size_t round) { rounds_[round].from->await_next(); }

 private:
  struct Channel {
    Flow* flow;
    const std::byte* out;
    std::uint64_t awaited = 0;
  };
  struct Round {
    Flow *to, *from;
  };

  static bool has_come(const Channel& channel) { return channel.flow->has_come(channel.awaited); }
  /// With everything before it to this partner.
  static bool has_gone(const Channel& channel) { return channel.flow->peer().num_unreaped == 0; }

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
  Memory memory_out_, memory_in_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<Channel> channels_;
  std::vector<Round> rounds_;
  std::vector<std::size_t> awaited_;  ///< channels whose message has not been handed out
  std::vector<std::size_t> sending_;  ///< likewise of what was sent
  std::size_t num_awaited_ = 0, num_sending_ = 0;
};

}  // namespace leadline::transport::verbs
