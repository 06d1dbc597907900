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
/// the messages of all steps, the token of the closing barrier, and this as often as there are exchanges.
class VerbsNeighbours {
 public:
  VerbsNeighbours(Adapter& adapter, const Peers& peers, int num_ranks, const kernel::NeighbourExchange& exchange,
                  const kernel::NeighbourBuffers& buffers, std::uint64_t num_exchanges);

  void barrier() { kernel::disseminate(*this, rounds_.size()); }
  void start() const {}

  void send(std::size_t channel) {
    Flow& flow = *channels_[channel].flow;
    flow.post(channels_[channel].out, Notice::always);
    if (!flow.is_copied()) flow.await_sends();
  }
  void receive(std::size_t channel) { channels_[channel].flow->await_next(); }

  void post_send(std::size_t channel) { channels_[channel].flow->post(channels_[channel].out, Notice::always); }
  void post_receive(std::size_t channel) {
    channels_[channel].awaited = channels_[channel].flow->ask();
    awaited_[num_awaited_++] = channel;
  }

  std::size_t await_any_receive() {
    std::size_t which = 0;
    adapter_.wait_until([&] {
      for (which = 0; which < num_awaited_; ++which) {
        if (has_come(channels_[awaited_[which]])) return true;
      }
      return false;
    });
    const std::size_t channel = awaited_[which];
    awaited_[which] = awaited_[--num_awaited_];
    return channel;
  }

  void complete_posted() {
    for (std::size_t i = 0; i < num_awaited_; ++i) {
      adapter_.wait_until([&] { return has_come(channels_[awaited_[i]]); });
    }
    adapter_.wait_until([&] { return adapter_.has_sent_all(); });
    num_awaited_ = 0;
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

  Adapter& adapter_;
  Memory memory_out_, memory_in_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<Channel> channels_;
  std::vector<Round> rounds_;
  std::vector<std::size_t> awaited_;  ///< channels whose message has not been handed out
  std::size_t num_awaited_ = 0;
};

}  // namespace leadline::transport::verbs
