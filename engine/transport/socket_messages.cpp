// SPDX-License-Identifier: Apache-2.0
// Finds the socket of each partner, and leaves the rest to the traffic over all of them.
#include "transport/socket_messages.hpp"

#include <algorithm>
#include <cassert>

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

SocketMessages::SocketMessages(std::span<const std::int32_t> partners, std::size_t max_tickets,
                               const LinkSockets& sockets, WaitMode wait)
    : ranks_(sorted(partners)),
      traffic_(ranks_, sockets_to(ranks_, sockets), max_tickets, wait, SocketTraffic::HandsOut::everything) {}

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
