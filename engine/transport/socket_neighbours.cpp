// SPDX-License-Identifier: Apache-2.0
// Finds the sockets of an exchange with many neighbours, each once.
#include "transport/socket_neighbours.hpp"

#include <algorithm>
#include <utility>

namespace leadline::transport {

Neighbourhood::Neighbourhood(const kernel::NeighbourExchange& exchange, int own_rank, int num_ranks,
                             const LinkSockets& sockets, std::function<void()> instead)
    : barrier(std::move(instead)), at_loss(sockets.gives_up_silent_links() ? AtLoss::completes : AtLoss::throws) {
  if (!barrier) ranks = kernel::barrier_partners(own_rank, num_ranks);
  for (const kernel::NeighbourChannel& channel : exchange.channels) ranks.push_back(channel.partner);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const LinkEnds& ends : sockets.all_ends(ranks)) fds.push_back(ends.out);

  const auto peer_of = [&](std::int32_t rank) {
    return static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
  };
  for (const kernel::NeighbourChannel& channel : exchange.channels) peer_of_channel.push_back(peer_of(channel.partner));
  if (barrier) return;
  for (const kernel::BarrierRound& round : kernel::barrier_rounds(own_rank, num_ranks)) {
    barrier_rounds.push_back({peer_of(round.to), peer_of(round.from)});
  }
}

}  // namespace leadline::transport
