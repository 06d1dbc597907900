// SPDX-License-Identifier: Apache-2.0
// Registers the memory of each message, posts it as soon as there is room, and hands it out when it is done.
#include "transport/verbs/verbs_messages.hpp"

#include <algorithm>
#include <cassert>

namespace leadline::transport::verbs {

VerbsMessages::VerbsMessages(Adapter& adapter, const Peers& peers, std::span<const std::int32_t> partners,
                             std::size_t max_tickets)
    : adapter_(adapter), goes_on_(peers.gives_up_silent_links()), messages_(max_tickets) {
  for (const std::int32_t partner : partners) {
    Peer& peer = peers.at(partner);
    peer.num_asked = peer.num_arrived = 0;
    peer.seemed_gone = false;
    lanes_.push_back({partner, &peer, std::min(peer.pair.num_receives, adapter.receives_each(partners.size()))});
  }
  std::ranges::sort(lanes_, {}, &Lane::rank);
}

void VerbsMessages::post_send(int partner, std::span<const std::byte> data, Ticket ticket) {
  adapter_.refuse_too_long(data.size());
  Lane& lane = lane_to(partner);
  if (lane.peer == nullptr) return done_.push_back(ticket);
  const bool is_copied = data.size() <= lane.peer->pair.max_inline_bytes;
  messages_[ticket] = {data.data(), data.size(), is_copied ? Memory{} : adapter_.memory(data.data(), data.size())};
  lane.sends.push_back(ticket);
  unless_lost([&] { push(lane); });
}

void VerbsMessages::post_receive(int partner, std::span<std::byte> data, Ticket ticket) {
  adapter_.refuse_too_long(data.size());
  Lane& lane = lane_to(partner);
  if (lane.peer == nullptr) return done_.push_back(ticket);
  messages_[ticket] = {data.data(), data.size(), adapter_.memory(data.data(), data.size())};
  lane.receives.push_back(ticket);
  unless_lost([&] { push(lane); });
}

std::optional<Messages::Ticket> VerbsMessages::poll() {
  if (done_.empty()) {
    unless_lost([&] {
      if (adapter_.poll_and_look()) collect();
    });
  }
  if (done_.empty()) return std::nullopt;
  return taken();
}

Messages::Ticket VerbsMessages::await_any() {
  while (done_.empty()) {
    unless_lost([&] {
      adapter_.wait_until([&] {
        if (done_.empty()) collect();
        return !done_.empty();
      });
    });
  }
  return taken();
}

VerbsMessages::Lane& VerbsMessages::lane_to(int partner) {
  const auto found = std::ranges::lower_bound(lanes_, partner, {}, &Lane::rank);
  assert(found != lanes_.end() && found->rank == partner && "no partner of these messages");
  return *found;
}

/// Whatever waits and fits.
void VerbsMessages::push(Lane& lane) {
  while (lane.num_receives_posted < std::min<std::size_t>(lane.receives.size(), lane.num_ahead)) {
    push_receive(lane, lane.receives[lane.num_receives_posted]);
  }
  while (lane.num_sends_posted < lane.sends.size() && adapter_.has_room(*lane.peer)) {
    push_send(lane, lane.sends[lane.num_sends_posted]);
  }
}

void VerbsMessages::push_send(Lane& lane, Ticket ticket) {
  const Message& message = messages_[ticket];
  ibv_sge from{reinterpret_cast<std::uintptr_t>(message.data), static_cast<std::uint32_t>(message.size),
               message.memory.local_key()};
  ibv_send_wr request{};
  request.wr_id = Adapter::mark(*lane.peer, 1);
  request.sg_list = &from;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED | (message.memory.region ? 0u : unsigned{IBV_SEND_INLINE});
  ibv_send_wr* bad = nullptr;
  if (const int problem = ibv_post_send(lane.peer->sender(), &request, &bad); problem != 0) {
    adapter_.fail_posting(*lane.peer, problem);
  }
  ++lane.peer->num_unreaped;
  adapter_.count_signalled(*lane.peer);
  ++lane.num_sends_posted;
}

void VerbsMessages::push_receive(Lane& lane, Ticket ticket) {
  const Message& message = messages_[ticket];
  ibv_sge into{reinterpret_cast<std::uintptr_t>(message.data), static_cast<std::uint32_t>(message.size),
               message.memory.local_key()};
  ibv_recv_wr request{};
  request.wr_id = Adapter::mark(*lane.peer, 0);
  request.sg_list = &into;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (const int problem = ibv_post_recv(lane.peer->receiver(), &request, &bad); problem != 0) {
    adapter_.fail_posting(*lane.peer, problem);
  }
  ++lane.peer->num_asked;
  ++lane.num_receives_posted;
}

void VerbsMessages::collect() {
  for (Lane& lane : lanes_) {
    if (lane.peer == nullptr) continue;
    for (; lane.num_sends_posted > lane.peer->num_signalled; --lane.num_sends_posted) hand_in(lane.sends);
    for (; lane.num_handed_in < lane.peer->num_arrived; ++lane.num_handed_in) {
      hand_in(lane.receives);
      --lane.num_receives_posted;
    }
    push(lane);
  }
}

void VerbsMessages::hand_in(std::deque<Ticket>& queue) {
  messages_[queue.front()].memory = {};
  done_.push_back(queue.front());
  queue.pop_front();
}

template <class Work>
void VerbsMessages::unless_lost(const Work& work) {
  try {
    work();
  } catch (const cluster::ConnectionLost& lost) {
    lose(lost);
  }
}

/// The adapter has given it up, and uses no memory for it any more.
void VerbsMessages::lose(const cluster::ConnectionLost& lost) {
  if (!goes_on_) throw lost;
  lost_links_.push_back(lost);
  Lane& lane = lane_to(lost.partner());
  lane.peer = nullptr;
  while (!lane.sends.empty()) hand_in(lane.sends);
  while (!lane.receives.empty()) hand_in(lane.receives);
  unless_lost([this] { collect(); });  // what was counted of others before
}

Messages::Ticket VerbsMessages::taken() {
  const Ticket ticket = done_.front();
  done_.pop_front();
  return ticket;
}

}  // namespace leadline::transport::verbs
