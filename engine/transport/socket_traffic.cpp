// SPDX-License-Identifier: Apache-2.0
// Messages over many stream sockets at once, for the modules that move their bytes by TCP.
#include "transport/socket_traffic.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>

#include "transport/socket_link.hpp"

namespace leadline::transport {
namespace {

std::vector<std::int32_t> sorted(std::span<const std::int32_t> partners) {
  std::vector<std::int32_t> ranks(partners.begin(), partners.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<int> sockets_to(std::span<const std::int32_t> ranks, const LinkSockets& sockets) {
  std::vector<int> fds;
  for (const LinkEnds& ends : sockets.all_ends(ranks)) fds.push_back(ends.out);
  return fds;
}

}  // namespace

SocketTraffic::SocketTraffic(std::span<const std::int32_t> ranks, std::span<const int> fds, std::size_t num_messages,
                             WaitMode wait, Completions completions, AtLoss at_loss)
    : wait_(wait),
      completions_(completions),
      at_loss_(at_loss),
      peers_(ranks.size()),
      wanted_(ranks.size(), pollfd{-1, 0, 0}),
      outgoing_(num_messages),
      incoming_(num_messages),
      done_(num_messages) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    peers_[i].rank = ranks[i];
    peers_[i].fd = fds[i];
    if (fds[i] < 0)
      lose(i, cluster::ConnectionLost(ranks[i], fmt::format("the link to rank {} is not open", ranks[i])));
  }
}

void SocketTraffic::post_send(std::size_t peer, std::size_t message, const std::byte* data, std::size_t size) {
  if (is_lost(peer)) {
    if (completions_ == Completions::everything) note_done(message);
    return;
  }
  Queue& queue = peers_[peer].out;
  add(queue, outgoing_, message, data, size);
  if (queue.first == message) on_link(peer, [&] { send_more(peers_[peer]); });
  if (queue.first != none) await_events_of(peer);
}

// Not tried at once: most have not come yet, and one poll tells that of all.
void SocketTraffic::post_receive(std::size_t peer, std::size_t message, std::byte* data, std::size_t size) {
  if (is_lost(peer)) return note_done(message);
  add(peers_[peer].in, incoming_, message, data, size);
  await_events_of(peer);
}

std::size_t SocketTraffic::await_any() {
  while (num_done_ == 0) move_until_any();
  return take_first_done();
}

void SocketTraffic::move() {
  if (num_pending_ > 0) move_what_is_ready(0);
}

std::optional<std::size_t> SocketTraffic::poll() {
  if (num_done_ == 0) move();
  if (num_done_ == 0) return std::nullopt;
  return take_first_done();
}

void SocketTraffic::complete_posted() {
  while (num_pending_ > 0) move_until_any();
  num_done_ = 0;
}

void SocketTraffic::note_done(std::size_t message) {
  const std::size_t end = first_done_ + num_done_++;
  done_[end < done_.size() ? end : end - done_.size()] = message;
}

std::size_t SocketTraffic::take_first_done() {
  const std::size_t message = done_[first_done_];
  if (++first_done_ == done_.size()) first_done_ = 0;
  --num_done_;
  return message;
}

template <class Byte>
void SocketTraffic::add(Queue& queue, std::vector<Message<Byte>>& messages, std::size_t message, Byte* data,
                        std::size_t size) {
  messages[message] = {data, size, none};
  if (queue.first == none)
    queue.first = message;
  else
    messages[queue.last].next = message;
  queue.last = message;
  ++num_pending_;
}

template <class Byte>
bool SocketTraffic::drop_first_if_done(Queue& queue, const std::vector<Message<Byte>>& messages) {
  const Message<Byte>& first = messages[queue.first];
  if (queue.done_bytes < first.size) return false;
  queue.first = first.next;
  queue.done_bytes = 0;
  --num_pending_;
  return true;
}

void SocketTraffic::lose(std::size_t index, const cluster::ConnectionLost& lost) {
  if (at_loss_ == AtLoss::throws) throw lost;
  Peer& peer = peers_[index];
  lost_links_.push_back(lost);
  for (; peer.out.first != none; peer.out.first = outgoing_[peer.out.first].next) {
    if (completions_ == Completions::everything) note_done(peer.out.first);
    --num_pending_;
  }
  for (; peer.in.first != none; peer.in.first = incoming_[peer.in.first].next) {
    note_done(peer.in.first);
    --num_pending_;
  }
  peer.fd = wanted_[index].fd = -1;
}

/// Whether anything moved. Goes on with the next message where one went out whole.
bool SocketTraffic::send_more(Peer& peer) {
  Queue& queue = peer.out;
  bool any = false;
  while (queue.first != none) {
    const std::size_t message = queue.first;
    const auto& first = outgoing_[message];
    const ssize_t result =
        ::send(peer.fd, first.data + queue.done_bytes, first.size - queue.done_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (!has_moved(result, peer.rank)) break;
    any = true;
    queue.done_bytes += static_cast<std::size_t>(result);
    if (!drop_first_if_done(queue, outgoing_)) break;
    if (completions_ == Completions::everything) note_done(message);
  }
  return any;
}

bool SocketTraffic::receive_more(Peer& peer) {
  Queue& queue = peer.in;
  bool any = false;
  while (queue.first != none) {
    const std::size_t message = queue.first;
    const auto& first = incoming_[message];
    const ssize_t result = ::recv(peer.fd, first.data + queue.done_bytes, first.size - queue.done_bytes, MSG_DONTWAIT);
    if (!has_moved(result, peer.rank)) break;
    any = true;
    queue.done_bytes += static_cast<std::size_t>(result);
    if (!drop_first_if_done(queue, incoming_)) break;
    note_done(message);
  }
  return any;
}

void SocketTraffic::await_events_of(std::size_t index) {
  const Peer& peer = peers_[index];
  pollfd& wanted = wanted_[index];
  wanted.events = static_cast<short>((peer.out.first != none ? POLLOUT : 0) | (peer.in.first != none ? POLLIN : 0));
  wanted.fd = wanted.events != 0 ? peer.fd : -1;
}

void SocketTraffic::move_until_any() {
  assert(num_pending_ > 0 && "nothing is posted that could come");
  if (move_what_is_ready(wait_ == WaitMode::block ? -1 : 0)) {
    idle_.restart();
  } else if (wait_ == WaitMode::yield) {
    idle_.pause();
  }
}

/// Whether anything moved.
bool SocketTraffic::move_what_is_ready(int timeout_ms) {
  // Interruptions and broken links show in the calls that follow.
  int num_ready = ::poll(wanted_.data(), wanted_.size(), timeout_ms);
  bool any = false;
  for (std::size_t i = 0; num_ready > 0 && i < peers_.size(); ++i) {
    if (wanted_[i].revents == 0) continue;
    --num_ready;
    const short events = wanted_[i].revents;
    if ((events & ~POLLIN) != 0) on_link(i, [&] { any |= send_more(peers_[i]); });
    if ((events & ~POLLOUT) != 0) on_link(i, [&] { any |= receive_more(peers_[i]); });
    await_events_of(i);
  }
  return any;
}

SocketMessages::SocketMessages(std::span<const std::int32_t> partners, std::size_t max_tickets,
                               const LinkSockets& sockets, WaitMode wait)
    : ranks_(sorted(partners)),
      traffic_(ranks_, sockets_to(ranks_, sockets), max_tickets, wait, SocketTraffic::Completions::everything,
               sockets.gives_up_silent_links() ? AtLoss::completes : AtLoss::throws) {}

void SocketMessages::post_send(int partner, std::span<const std::byte> data, Ticket ticket) {
  traffic_.post_send(peer_of(partner), ticket, data.data(), data.size());
}

void SocketMessages::post_receive(int partner, std::span<std::byte> data, Ticket ticket) {
  traffic_.post_receive(peer_of(partner), ticket, data.data(), data.size());
}

std::optional<Messages::Ticket> SocketMessages::poll() {
  const auto done = traffic_.poll();
  if (!done) return std::nullopt;
  return static_cast<Ticket>(*done);
}

Messages::Ticket SocketMessages::await_any() { return static_cast<Ticket>(traffic_.await_any()); }

std::size_t SocketMessages::peer_of(int partner) const {
  const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), partner);
  assert(found != ranks_.end() && *found == partner && "no partner of these messages");
  return static_cast<std::size_t>(found - ranks_.begin());
}

}  // namespace leadline::transport
