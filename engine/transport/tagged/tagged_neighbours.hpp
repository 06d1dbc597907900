// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours over a library of tagged messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clock.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "model/request.hpp"
#include "transport/buffers.hpp"
#include "transport/tagged/peers.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::tagged {

/// See kernel/neighbours.hpp. Making one throws Error(something_missing) where not all links can be open at once.
template <Port P, WaitMode wait>
class TaggedNeighbours {
 public:
  using Request = typename P::Request;

  TaggedNeighbours(P& port, const Peers<P>& peers, int num_ranks, const kernel::NeighbourExchange& exchange,
                   const kernel::NeighbourBuffers& buffers)
      : port_(port),
        out_{Kind::link, peers.own_rank()},
        token_out_{Kind::token, peers.own_rank()},
        size_(exchange.message_size_bytes),
        memory_out_(port.memory(buffers.send, reach(exchange, buffers))),
        memory_in_(port.memory(buffers.receive, reach(exchange, buffers))),
        token_memory_(port.memory(tokens_.data(), tokens_.size())),
        sends_(exchange.channels.size()),
        receives_(exchange.channels.size()),
        sending_(exchange.channels.size()),
        awaited_(exchange.channels.size()) {
    peers.require(partners_of(exchange, peers.own_rank(), num_ranks));
    channels_.reserve(exchange.channels.size());
    for (const kernel::NeighbourChannel& channel : exchange.channels) {
      const std::size_t offset_bytes = channel.slot * buffers.stride_bytes;
      channels_.push_back({peers.at(channel.partner),
                           {Kind::link, channel.partner},
                           buffers.send + offset_bytes,
                           buffers.receive + offset_bytes});
    }
    for (const kernel::BarrierRound& round : kernel::barrier_rounds(peers.own_rank(), num_ranks)) {
      rounds_.push_back({peers.at(round.to), peers.at(round.from), {Kind::token, round.from}});
    }
  }

  void barrier() { kernel::disseminate(*this, rounds_.size()); }
  void start() const {}

  void send(std::size_t channel) {
    port_.post_send(channels_[channel].peer, out_, memory_out_, channels_[channel].out, size_, single_);
    await(single_);
  }

  void receive(std::size_t channel) {
    const Channel& at = channels_[channel];
    port_.post_receive(at.peer, at.in_tag, memory_in_, at.in, size_, single_);
    await(single_);
  }

  void post_send(std::size_t channel) {
    sending_[num_sending_++] = channel;
    port_.post_send(channels_[channel].peer, out_, memory_out_, channels_[channel].out, size_, sends_[channel]);
  }

  void post_receive(std::size_t channel) {
    const Channel& at = channels_[channel];
    awaited_[num_awaited_++] = channel;
    port_.post_receive(at.peer, at.in_tag, memory_in_, at.in, size_, receives_[channel]);
  }

  std::size_t await_any_receive() {
    std::size_t which = 0;
    drive_until<wait>(port_, [&] { return any_is_done(receives_, awaited_, num_awaited_, which); });
    return take(awaited_, num_awaited_, which);
  }

  std::size_t await_any_posted() {
    port_.progress();
    std::size_t which = 0;
    bool is_receive = false;
    drive_until<wait>(port_, [&] {
      is_receive = any_is_done(receives_, awaited_, num_awaited_, which);
      return is_receive || any_is_done(sends_, sending_, num_sending_, which);
    });
    return is_receive ? take(awaited_, num_awaited_, which) : take(sending_, num_sending_, which);
  }

  void complete_posted() {
    for (std::size_t i = 0; i < num_awaited_; ++i) await(receives_[awaited_[i]]);
    for (std::size_t i = 0; i < num_sending_; ++i) await(sends_[sending_[i]]);
    num_sending_ = num_awaited_ = 0;
  }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

  // See kernel/barrier.hpp.
  void send_token(std::size_t round) {
    port_.post_send(rounds_[round].to, token_out_, token_memory_, &tokens_[0], 1, single_);
    await(single_);
  }
  void await_token(std::size_t round) {
    port_.post_receive(rounds_[round].from, rounds_[round].in_tag, token_memory_, &tokens_[1], 1, single_);
    await(single_);
  }

 private:
  struct Channel {
    typename P::Peer peer;
    Tag in_tag;
    const std::byte* out;
    std::byte* in;
  };
  struct Round {
    typename P::Peer to, from;
    Tag in_tag;
  };

  /// Each once.
  static std::vector<std::int32_t> partners_of(const kernel::NeighbourExchange& exchange, int own, int num_ranks) {
    std::vector<std::int32_t> ranks = kernel::barrier_partners(own, num_ranks);
    for (const kernel::NeighbourChannel& channel : exchange.channels) ranks.push_back(channel.partner);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  /// Which of the first `num` entries of `channels` it is.
  bool any_is_done(std::vector<Request>& requests, const std::vector<std::size_t>& channels, std::size_t num,
                   std::size_t& which) {
    for (which = 0; which < num; ++which) {
      if (port_.is_done(requests[channels[which]])) return true;
    }
    return false;
  }

  static std::size_t take(std::vector<std::size_t>& channels, std::size_t& num, std::size_t which) {
    const std::size_t channel = channels[which];
    channels[which] = channels[--num];
    return channel;
  }

  void await(Request& request) {
    drive_until<wait>(port_, [&] { return port_.is_done(request); });
  }

  P& port_;
  Tag out_, token_out_;
  std::size_t size_;
  std::array<std::byte, 2> tokens_{};  ///< out, in
  typename P::Memory memory_out_, memory_in_, token_memory_;
  std::vector<Channel> channels_;
  std::vector<Round> rounds_;
  std::vector<Request> sends_, receives_;  ///< by channel
  std::vector<std::size_t> sending_;       ///< channels whose send was posted, and has not been handed out
  std::vector<std::size_t> awaited_;       ///< likewise of receives
  std::size_t num_sending_ = 0, num_awaited_ = 0;
  Request single_{};
};

}  // namespace leadline::transport::tagged
