// SPDX-License-Identifier: Apache-2.0
// Messages one by one over reliable connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "cluster/rendezvous.hpp"
#include "transport/messages.hpp"
#include "transport/verbs/adapter.hpp"
#include "transport/verbs/peers.hpp"

namespace leadline::transport::verbs {

/// Nobody knows beforehand what will come: a message for which no receive is posted yet is offered again by the adapter
/// until there is one. What does not fit into the queues waits here.
class VerbsMessages final : public Messages {
 public:
  VerbsMessages(Adapter& adapter, const Peers& peers, std::span<const std::int32_t> partners, std::size_t max_tickets);

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override;
  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override;
  std::optional<Ticket> poll() override;
  Ticket await_any() override;
  std::span<const cluster::ConnectionLost> lost_links() const override { return lost_links_; }

 private:
  struct Message {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    Memory memory{};
  };

  /// To and from one partner, each in the order in which it was posted.
  struct Lane {
    std::int32_t rank;
    Peer* peer;               ///< null: lost
    std::uint32_t num_ahead;  ///< receives that may be posted at once
    std::deque<Ticket> sends{}, receives{};
    std::size_t num_sends_posted = 0, num_receives_posted = 0;
    std::uint64_t num_handed_in = 0;
  };

  Lane& lane_to(int partner);
  void push(Lane& lane);
  void push_send(Lane& lane, Ticket ticket);
  void push_receive(Lane& lane, Ticket ticket);
  void collect();
  void hand_in(std::deque<Ticket>& queue);
  Ticket taken();
  template <class Work>
  void unless_lost(const Work& work);
  void lose(const cluster::ConnectionLost& lost);

  Adapter& adapter_;
  bool goes_on_;
  std::vector<Lane> lanes_;        ///< ascending by rank
  std::vector<Message> messages_;  ///< by ticket
  std::deque<Ticket> done_;
  std::vector<cluster::ConnectionLost> lost_links_;
};

}  // namespace leadline::transport::verbs
