// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours over stream sockets; for the modules that move their bytes by TCP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "model/request.hpp"
#include "transport/link_sockets.hpp"
#include "transport/socket_link.hpp"
#include "transport/socket_traffic.hpp"

namespace leadline::transport {

/// The other ends of one exchange, each once: the partners of the channels and those of the barrier.
struct Neighbourhood {
  /// `instead`: a barrier in place of one over these links. Throws Error(something_missing) where not all their
  /// links can be open at once.
  Neighbourhood(const kernel::NeighbourExchange& exchange, int own_rank, int num_ranks, const LinkSockets& sockets,
                std::function<void()> instead = {});

  struct Round {
    std::size_t to = 0, from = 0;
  };

  std::vector<std::int32_t> ranks;           ///< by peer, ascending
  std::vector<int> fds;                      ///< by peer
  std::vector<std::size_t> peer_of_channel;  ///< as in the exchange
  std::function<void()> barrier;             ///< empty: over these links
  std::vector<Round> barrier_rounds;         ///< peers
  AtLoss at_loss;
};

/// Which of them a task wants to be told of.
inline SocketTraffic::Completions completions_for(const kernel::NeighbourTask& task) {
  const bool awaits_sends =
      std::holds_alternative<kernel::TimedStreams>(task) || std::holds_alternative<kernel::TimedDirections>(task);
  return awaits_sends ? SocketTraffic::Completions::everything : SocketTraffic::Completions::receives;
}

/// See kernel/neighbours.hpp; `completions` as completions_for() the task.
template <WaitMode wait>
class SocketNeighbours {
 public:
  SocketNeighbours(const Neighbourhood& around, const kernel::NeighbourExchange& exchange,
                   const kernel::NeighbourBuffers& buffers, SocketTraffic::Completions completions)
      : around_(around),
        exchange_(exchange),
        buffers_(buffers),
        traffic_(around.ranks, around.fds, exchange.channels.size(), wait, completions, around.at_loss) {}

  void barrier() {
    if (around_.barrier) return around_.barrier();
    kernel::disseminate(*this, around_.barrier_rounds.size());
  }
  void start() const {}

  void send(std::size_t channel) {
    const std::size_t peer = around_.peer_of_channel[channel];
    traffic_.on_link(peer, [&] { stream(peer).send(out(channel), exchange_.message_size_bytes); });
  }
  void receive(std::size_t channel) {
    const std::size_t peer = around_.peer_of_channel[channel];
    traffic_.on_link(peer, [&] { stream(peer).receive(in(channel), exchange_.message_size_bytes); });
  }

  void post_send(std::size_t channel) {
    traffic_.post_send(around_.peer_of_channel[channel], channel, out(channel), exchange_.message_size_bytes);
  }
  void post_receive(std::size_t channel) {
    traffic_.post_receive(around_.peer_of_channel[channel], channel, in(channel), exchange_.message_size_bytes);
  }

  std::size_t await_any_receive() { return traffic_.await_any(); }
  std::size_t await_any_posted() {
    traffic_.move();
    return traffic_.await_any();
  }
  void complete_posted() { traffic_.complete_posted(); }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

  // See kernel/barrier.hpp.
  void send_token(std::size_t round) {
    const std::byte token{1};
    const std::size_t to = around_.barrier_rounds[round].to;
    traffic_.on_link(to, [&] { stream(to).send(&token, 1); });
  }
  void await_token(std::size_t round) {
    std::byte token;
    const std::size_t from = around_.barrier_rounds[round].from;
    traffic_.on_link(from, [&] { stream(from).receive(&token, 1); });
  }

  const std::vector<cluster::ConnectionLost>& lost_links() const { return traffic_.lost_links(); }

 private:
  SocketStream<wait> stream(std::size_t peer) const {
    return {{around_.fds[peer], around_.fds[peer]}, around_.ranks[peer]};
  }
  const std::byte* out(std::size_t channel) const { return buffers_.send + offset_bytes(channel); }
  std::byte* in(std::size_t channel) const { return buffers_.receive + offset_bytes(channel); }
  std::size_t offset_bytes(std::size_t channel) const {
    return exchange_.channels[channel].slot * buffers_.stride_bytes;
  }

  const Neighbourhood& around_;
  const kernel::NeighbourExchange& exchange_;
  kernel::NeighbourBuffers buffers_;
  SocketTraffic traffic_;
};

}  // namespace leadline::transport
