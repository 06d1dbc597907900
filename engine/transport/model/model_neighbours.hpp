// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours through a simulated fabric: each message is handled at the moment it arrives.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "transport/model/fabric.hpp"
#include "transport/model/model_link.hpp"
#include "transport/socket_neighbours.hpp"

namespace leadline::transport::model {

/// See kernel/neighbours.hpp. Sending keeps the link to that partner busy; a step is over when all has arrived and no
/// link of this rank is busy. On the wire a message is its arrival, then its bytes where those travel.
class ModelNeighbours {
 public:
  ModelNeighbours(const Fabric& fabric, Station& own, const Neighbourhood& around,
                  const kernel::NeighbourExchange& exchange, const kernel::NeighbourBuffers& buffers, Payload payload,
                  SocketTraffic::Completions completions)
      : fabric_(fabric),
        own_(own),
        around_(around),
        exchange_(exchange),
        buffers_(buffers),
        payload_(payload),
        traffic_(around.ranks, around.fds, 2 * exchange.channels.size(), WaitMode::block, completions),
        peers_(around.ranks.size()),
        messages_(exchange.channels.size()) {}

  void barrier() { kernel::disseminate(*this, around_.barrier_rounds.size()); }

  void start() {
    own_.clock_ns = done_ns_ = step_start_ns_ = 0;
    for (Peer& peer : peers_) peer.busy_until_ns = peer.last_arrival_ns = 0;
  }

  void send(std::size_t channel) {
    post_send(channel);
    complete_posted();
  }

  void receive(std::size_t channel) {
    post_receive(channel);
    complete_posted();
  }

  void post_send(std::size_t channel) {
    const std::size_t peer = around_.peer_of_channel[channel];
    std::uint64_t& arrival_ns = messages_[channel].sent_arrival_ns;
    arrival_ns = arrival_at(peer, exchange_.message_size_bytes);
    done_ns_ = std::max(done_ns_, peers_[peer].busy_until_ns);
    traffic_.post_send(peer, 2 * channel, reinterpret_cast<const std::byte*>(&arrival_ns), sizeof arrival_ns);
    if (payload_ == Payload::none) return;
    traffic_.post_send(peer, 2 * channel + 1, buffers_.send + offset_bytes(channel), exchange_.message_size_bytes);
  }

  void post_receive(std::size_t channel) {
    const std::size_t peer = around_.peer_of_channel[channel];
    messages_[channel].is_there = false;
    std::uint64_t& arrival_ns = messages_[channel].arrival_ns;
    traffic_.post_receive(peer, 2 * channel, reinterpret_cast<std::byte*>(&arrival_ns), sizeof arrival_ns);
    if (payload_ == Payload::whole) {
      traffic_.post_receive(peer, 2 * channel + 1, buffers_.receive + offset_bytes(channel),
                            exchange_.message_size_bytes);
    }
    wave_of(channel).channels.push_back(channel);
  }

  /// In the order of virtual arrival, except that those to be answered come first: they come whatever this rank does,
  /// whereas the others may wait for answers of ranks that wait for answers of ours. The clock is the message's
  /// arrival, so an answer departs at the right moment all the same.
  std::size_t await_any_receive() {
    Wave& wave = waves_[0].is_spent() ? waves_[1] : waves_[0];
    if (wave.num_handed_out == 0) bring_in(wave);
    const std::size_t channel = wave.channels[wave.num_handed_out++];
    own_.clock_ns = std::max(step_start_ns_, messages_[channel].arrival_ns);
    return channel;
  }

  /// The clock is when the message arrived, or when the link of what was sent is no longer busy: so the next one
  /// departs at the right moment, in whatever order they come on the wire.
  std::size_t await_any_posted() {
    for (;;) {
      const std::size_t part = traffic_.await_any();
      const std::size_t channel = part / 2;
      Peer& peer = peers_[around_.peer_of_channel[channel]];
      if (!is_last_part(part)) continue;
      if (kernel::receives(exchange_.channels[channel].part)) {
        take(part);
        std::erase(wave_of(channel).channels, channel);
        own_.clock_ns = peer.last_arrival_ns = std::max(peer.last_arrival_ns, messages_[channel].arrival_ns);
      } else {
        own_.clock_ns = peer.busy_until_ns;
      }
      return channel;
    }
  }

  void complete_posted() {
    for (Wave& wave : waves_) {
      for (const std::size_t channel : wave.channels) await(channel);
      wave.channels.clear();
      wave.num_handed_out = 0;
    }
    traffic_.complete_posted();
    own_.clock_ns = step_start_ns_ = done_ns_ = std::max(own_.clock_ns, done_ns_);
  }

  std::uint64_t now_ns() const { return own_.clock_ns; }

  // See kernel/barrier.hpp.
  void send_token(std::size_t round) {
    const std::size_t peer = around_.barrier_rounds[round].to;
    const std::uint64_t arrival_ns = arrival_at(peer, 0);
    stream(peer).send(reinterpret_cast<const std::byte*>(&arrival_ns), sizeof arrival_ns);
  }
  void await_token(std::size_t round) {
    std::uint64_t arrival_ns = 0;
    stream(around_.barrier_rounds[round].from).receive(reinterpret_cast<std::byte*>(&arrival_ns), sizeof arrival_ns);
    own_.clock_ns = std::max(own_.clock_ns, arrival_ns);
  }

 private:
  struct Peer {
    std::uint64_t busy_until_ns = 0;
    std::uint64_t last_arrival_ns = 0;  ///< of a stream: its messages come in order
    std::uint64_t num_taken = 0;
  };
  struct Message {
    std::uint64_t sent_arrival_ns = 0;  ///< at the other end
    std::uint64_t arrival_ns = 0;
    bool is_there = false;
  };
  /// Channels whose messages are awaited together.
  struct Wave {
    std::vector<std::size_t> channels;
    std::size_t num_handed_out = 0;

    bool is_spent() const { return num_handed_out == channels.size(); }
  };

  Wave& wave_of(std::size_t channel) {
    return waves_[exchange_.channels[channel].part == kernel::Part::answers ? 0 : 1];
  }

  void bring_in(Wave& wave) {
    for (const std::size_t channel : wave.channels) await(channel);
    std::sort(wave.channels.begin(), wave.channels.end(), [&](std::size_t one, std::size_t other) {
      return std::pair(messages_[one].arrival_ns, one) < std::pair(messages_[other].arrival_ns, other);
    });
  }

  /// On the wire, that is: in virtual time it may be there later or have been there long since.
  void await(std::size_t channel) {
    while (!messages_[channel].is_there) take(traffic_.await_any());
  }

  bool is_last_part(std::size_t part) const { return part % 2 == 1 || payload_ == Payload::none; }

  void take(std::size_t part) {
    const std::size_t channel = part / 2;
    if (!is_last_part(part)) return;
    messages_[channel].is_there = true;
    done_ns_ = std::max(done_ns_, messages_[channel].arrival_ns);
    if (payload_ == Payload::whole) corrupt(channel);
  }

  void corrupt(std::size_t channel) {
    const std::size_t peer = around_.peer_of_channel[channel];
    const auto byte = corrupted_byte(fabric_, around_.ranks[peer], own_.rank, peers_[peer].num_taken++);
    if (!byte || *byte >= exchange_.message_size_bytes) return;
    buffers_.receive[offset_bytes(channel) + *byte] ^= std::byte{0x01};
  }

  std::uint64_t arrival_at(std::size_t peer, std::size_t size) {
    return depart(fabric_, own_, around_.ranks[peer], size, own_.clock_ns, peers_[peer].busy_until_ns);
  }

  SocketStream<WaitMode::block> stream(std::size_t peer) const {
    return {{around_.fds[peer], around_.fds[peer]}, around_.ranks[peer]};
  }
  std::size_t offset_bytes(std::size_t channel) const {
    return exchange_.channels[channel].slot * buffers_.stride_bytes;
  }

  const Fabric& fabric_;
  Station& own_;
  const Neighbourhood& around_;
  const kernel::NeighbourExchange& exchange_;
  kernel::NeighbourBuffers buffers_;
  Payload payload_;
  SocketTraffic traffic_;
  std::vector<Peer> peers_;
  std::vector<Message> messages_;  ///< by channel
  std::array<Wave, 2> waves_;      ///< those to be answered, the others
  std::uint64_t step_start_ns_ = 0;
  std::uint64_t done_ns_ = 0;  ///< when everything of the step will be
};

}  // namespace leadline::transport::model
