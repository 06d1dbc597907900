// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours over a library of tagged messages.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "cluster/rendezvous.hpp"
#include "core/clock.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "model/request.hpp"
#include "transport/buffers.hpp"
#include "transport/tagged/peers.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::tagged {

/// See kernel/neighbours.hpp; `instead` is a barrier in place of one over these links. Where silent links are given up,
/// what is to pass over one that is lost counts as done. Making one throws Error(something_missing) where not all links
/// can be open at once.
template <Port P, WaitMode wait>
class TaggedNeighbours {
 public:
  using Request = typename P::Request;

  TaggedNeighbours(P& port, const Peers<P>& peers, int num_ranks, const kernel::NeighbourExchange& exchange,
                   const kernel::NeighbourBuffers& buffers, std::function<void()> instead)
      : port_(port),
        out_{Kind::link, peers.own_rank()},
        token_out_{Kind::token, peers.own_rank()},
        size_(exchange.message_size_bytes),
        memory_out_(port.memory(buffers.send, reach(exchange, buffers))),
        memory_in_(port.memory(buffers.receive, reach(exchange, buffers))),
        token_memory_(port.memory(tokens_.data(), tokens_.size())),
        barrier_(std::move(instead)),
        sends_(exchange.channels.size()),
        receives_(exchange.channels.size()),
        sending_(exchange.channels.size()),
        awaited_(exchange.channels.size()),
        singles_(1),
        goes_on_(peers.gives_up_silent_links()) {
    if (!barrier_) ranks_ = kernel::barrier_partners(peers.own_rank(), num_ranks);
    for (const kernel::NeighbourChannel& channel : exchange.channels) ranks_.push_back(channel.partner);
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    peers.require(ranks_);
    for (const std::int32_t rank : ranks_) {
      const auto peer = peers.find(rank);
      ends_.push_back({peer.value_or(typename P::Peer{}), !peer});
      if (!peer) lost_links_.emplace_back(rank, fmt::format("the link to rank {} is not open", rank));
    }
    channels_.reserve(exchange.channels.size());
    for (const kernel::NeighbourChannel& channel : exchange.channels) {
      const std::size_t offset_bytes = channel.slot * buffers.stride_bytes;
      channels_.push_back({end_of(channel.partner),
                           {Kind::link, channel.partner},
                           buffers.send + offset_bytes,
                           buffers.receive + offset_bytes});
    }
    if (barrier_) return;
    for (const kernel::BarrierRound& round : kernel::barrier_rounds(peers.own_rank(), num_ranks)) {
      rounds_.push_back({end_of(round.to), end_of(round.from), {Kind::token, round.from}});
    }
  }

  /// Each once, ascending.
  const std::vector<std::int32_t>& ranks() const { return ranks_; }
  const std::vector<cluster::ConnectionLost>& lost_links() const { return lost_links_; }

  void barrier() {
    if (barrier_) return barrier_();
    kernel::disseminate(*this, rounds_.size());
  }
  void start() const {}

  void send(std::size_t channel) {
    const Channel& at = channels_[channel];
    send_single(at.end, out_, memory_out_, at.out, size_);
  }

  void receive(std::size_t channel) {
    const Channel& at = channels_[channel];
    receive_single(at.end, at.in_tag, memory_in_, at.in, size_);
  }

  void post_send(std::size_t channel) {
    const Channel& at = channels_[channel];
    sending_[num_sending_++] = channel;
    unless_lost(at.end,
                [&] { port_.post_send(ends_[at.end].peer, out_, memory_out_, at.out, size_, sends_[channel]); });
  }

  void post_receive(std::size_t channel) {
    const Channel& at = channels_[channel];
    awaited_[num_awaited_++] = channel;
    unless_lost(at.end, [&] {
      port_.post_receive(ends_[at.end].peer, at.in_tag, memory_in_, at.in, size_, receives_[channel]);
    });
  }

  std::size_t await_any_receive() {
    std::size_t which = 0;
    drive([&] { return any_is_done(receives_, awaited_, num_awaited_, which); });
    return take(awaited_, num_awaited_, which);
  }

  std::size_t await_any_posted() {
    port_.progress();
    std::size_t which = 0;
    bool is_receive = false;
    drive([&] {
      is_receive = any_is_done(receives_, awaited_, num_awaited_, which);
      return is_receive || any_is_done(sends_, sending_, num_sending_, which);
    });
    return is_receive ? take(awaited_, num_awaited_, which) : take(sending_, num_sending_, which);
  }

  void complete_posted() {
    for (std::size_t i = 0; i < num_awaited_; ++i) await(channels_[awaited_[i]].end, receives_[awaited_[i]]);
    for (std::size_t i = 0; i < num_sending_; ++i) await(channels_[sending_[i]].end, sends_[sending_[i]]);
    num_sending_ = num_awaited_ = 0;
  }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

  // See kernel/barrier.hpp.
  void send_token(std::size_t round) { send_single(rounds_[round].to, token_out_, token_memory_, &tokens_[0], 1); }
  void await_token(std::size_t round) {
    receive_single(rounds_[round].from, rounds_[round].in_tag, token_memory_, &tokens_[1], 1);
  }

 private:
  /// The other end of a link.
  struct End {
    typename P::Peer peer;
    bool is_lost;
  };
  struct Channel {
    std::size_t end;
    Tag in_tag;
    const std::byte* out;
    std::byte* in;
  };
  struct Round {
    std::size_t to, from;  ///< ends
    Tag in_tag;
  };

  std::size_t end_of(std::int32_t rank) const {
    return static_cast<std::size_t>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
  }

  [[gnu::cold]] void lose(const cluster::ConnectionLost& lost) {
    if (!goes_on_) throw lost;
    const std::size_t end = end_of(lost.partner());
    if (std::exchange(ends_[end].is_lost, true)) return;
    lost_links_.push_back(lost);
    if constexpr (P::survives_lost_partners) {
      for (std::size_t i = 0; i < channels_.size(); ++i) {
        if (channels_[i].end != end) continue;
        port_.abandon(sends_[i]);
        port_.abandon(receives_[i]);
      }
    }
  }

  /// Also when another link is lost meanwhile.
  template <class Work>
  void unless_lost(std::size_t end, const Work& work) {
    while (!ends_[end].is_lost) {
      try {
        on_link(ranks_[end], work);
        return;
      } catch (const cluster::ConnectionLost& lost) {
        lose(lost);
      }
    }
  }

  void await(std::size_t end, Request& request) {
    unless_lost(end, [&] { drive_until<wait>(port_, [&] { return port_.is_done(request); }); });
  }

  void send_single(std::size_t end, Tag tag, const typename P::Memory& memory, const std::byte* data,
                   std::size_t size) {
    unless_lost(end, [&] { port_.post_send(ends_[end].peer, tag, memory, data, size, singles_.back()); });
    await_single(end);
  }

  void receive_single(std::size_t end, Tag tag, const typename P::Memory& memory, std::byte* data, std::size_t size) {
    unless_lost(end, [&] { port_.post_receive(ends_[end].peer, tag, memory, data, size, singles_.back()); });
    await_single(end);
  }

  void await_single(std::size_t end) {
    await(end, singles_.back());
    if constexpr (P::survives_lost_partners) {
      if (!ends_[end].is_lost) [[likely]]
        return;
      port_.abandon(singles_.back());
      singles_.emplace_back();
    }
  }

  template <class IsOver>
  void drive(const IsOver& is_over) {
    for (;;) {
      try {
        return drive_until<wait>(port_, is_over);
      } catch (const cluster::ConnectionLost& lost) {
        lose(lost);
      }
    }
  }

  /// Which of the first `num` entries of `channels` it is.
  bool any_is_done(std::vector<Request>& requests, const std::vector<std::size_t>& channels, std::size_t num,
                   std::size_t& which) {
    for (which = 0; which < num; ++which) {
      const std::size_t channel = channels[which];
      const std::size_t end = channels_[channel].end;
      bool is_done = ends_[end].is_lost;
      on_link(ranks_[end], [&] { is_done = is_done || port_.is_done(requests[channel]); });
      if (is_done) return true;
    }
    return false;
  }

  static std::size_t take(std::vector<std::size_t>& channels, std::size_t& num, std::size_t which) {
    const std::size_t channel = channels[which];
    channels[which] = channels[--num];
    return channel;
  }

  P& port_;
  Tag out_, token_out_;
  std::size_t size_;
  std::array<std::byte, 2> tokens_{};  ///< out, in
  typename P::Memory memory_out_, memory_in_, token_memory_;
  std::function<void()> barrier_;    ///< empty: over these links
  std::vector<std::int32_t> ranks_;  ///< by end
  std::vector<End> ends_;
  std::vector<Channel> channels_;
  std::vector<Round> rounds_;
  std::vector<Request> sends_, receives_;  ///< by channel
  std::vector<std::size_t> sending_;       ///< channels whose send was posted, and has not been handed out
  std::vector<std::size_t> awaited_;       ///< likewise of receives
  std::size_t num_sending_ = 0, num_awaited_ = 0;
  std::deque<Request> singles_;  ///< the last is used; what is lost keeps its own
  bool goes_on_;
  std::vector<cluster::ConnectionLost> lost_links_;
};

}  // namespace leadline::transport::tagged
