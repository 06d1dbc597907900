// SPDX-License-Identifier: Apache-2.0
// The open sockets of one rank to its partners: got from the rendezvous, kept up to a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cluster/rendezvous.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "transport/data_network.hpp"
#include "transport/transport.hpp"

namespace leadline::transport {

/// What a link sends into and receives from; the same descriptor twice, except on a link to oneself.
struct LinkEnds {
  int out = -1;
  int in = -1;
};

/// How many links a process may hold open: its limit of open files less what the rest of the program needs, shared
/// among links that cost so many each.
std::size_t link_limit(std::size_t files_a_link = 1);

/// Sixteen bytes for every open link, nothing for other partners.
///
/// Each end closes links by its own limit, without notice: first that which was connected longest ago, but none that
/// barriers need as long as there are others. The other end finds out when the two connect again: instead of the
/// greeting it reads the end of the stream, drops its own end, and both meet anew.
class LinkSockets {
 public:
  /// With a network, sockets are those of that network; otherwise the rendezvous' own. `progress` is called while a
  /// partner is waited for.
  LinkSockets(int own_rank, int num_ranks, cluster::Rendezvous& rendezvous, std::size_t limit,
              std::optional<DataNetwork> network = std::nullopt, ProgressFunction progress = {});

  /// Partners: opens the link, or finds it open, and passes one byte each way; both ends return the same.
  /// Throws Error(run_failed) when the deadline passes or the partner cannot be reached. Where silent links are given
  /// up, the deadline is for the network alone: a partner whose host answers may come later.
  Connected connect(int partner, Deadline deadline);

  /// Local, before the first link is opened: the kernel gives up a link on which what was sent, or a probe where
  /// nothing is, has not been acknowledged for so long.
  void give_up_silent_links(std::chrono::milliseconds limit) { silence_limit_ = limit; }

  /// Local: as Transport::resent(), over the open links.
  std::vector<Resent> resent();

  bool gives_up_silent_links() const { return silence_limit_.count() > 0; }

  /// Local: gives the link up, and closes it at this end, if it is open.
  void drop(int partner);

  /// Local: ends the link for both ends, where it is open; it is to be dropped later.
  void shut(int partner) const;

  /// Local: whether the link is open at this end.
  bool is_kept(int partner) const { return find(partner) != open_.end(); }

  /// Local: the link must be open. With the rank itself as partner, the two ends of the loop.
  LinkEnds ends(int partner) const;

  /// Local: the same for each of `partners`, all of whom have been connected; nothing for negative ones, and for those
  /// whose link has been given up. Throws Error(something_missing) where the limit has closed one of these links again.
  std::vector<LinkEnds> all_ends(std::span<const std::int32_t> partners) const;

  /// Local, where silent links are given up: throws cluster::ConnectionLost, once for each, where the open link to one
  /// of these partners has ended. For those whose data takes another way: the socket tells that the partner is lost, or
  /// has dropped the link. Looks no more often than every 10 ms. To be called while none of these links is opened or
  /// closed.
  std::function<void()> loss_check(std::span<const std::int32_t> partners) const;

 private:
  struct OpenLink {
    int partner;
    Descriptor socket;
    cluster::SocketsByRank::Entry entry = {};
    std::uint64_t num_resent = 0;  ///< TCP segments, when it was last asked
  };

  std::vector<OpenLink>::const_iterator find(int partner) const;
  void make_room();
  std::optional<Deadline> greeting_deadline(Deadline deadline) const;
  OpenLink greeted(int partner, Descriptor socket, Deadline deadline);
  void open_loop(Deadline deadline);

  int own_rank_;
  cluster::Rendezvous& rendezvous_;
  std::size_t limit_;
  std::optional<DataNetwork> network_;
  ProgressFunction progress_;
  std::vector<std::int32_t> barrier_partners_;  ///< ascending
  std::chrono::milliseconds silence_limit_{0};  ///< 0 = never
  std::vector<OpenLink> open_;                  ///< the one connected longest ago first
  std::set<int> given_up_;                      ///< partners
  Descriptor loop_out_, loop_in_;
};

}  // namespace leadline::transport
