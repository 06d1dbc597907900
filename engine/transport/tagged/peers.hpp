// SPDX-License-Identifier: Apache-2.0
// The endpoints of one rank's partners: addresses go by a socket, which stays open as long as the endpoint does.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cluster/rendezvous.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "transport/address_exchange.hpp"
#include "transport/link_sockets.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::tagged {

/// Where endpoints are kept to the end, sockets are there for their opening alone. Others are bounded as sockets are
/// (see LinkSockets), whose end tells a partner that the endpoint has been closed.
template <Port P>
class Peers {
 public:
  Peers(P& port, const Context& context)
      : port_(port),
        own_rank_(context.rank),
        rendezvous_(context.rendezvous),
        drive_([&port] { port.progress(); }),
        sockets_(context.rank, context.size, context.rendezvous, link_bound(), std::nullopt, drive_) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  ~Peers() {
    for (const auto& [rank, peer] : open_) port_.close(peer);
  }

  int own_rank() const { return own_rank_; }

  /// As LinkSockets::give_up_silent_links().
  void give_up_silent_links(std::chrono::milliseconds limit) { sockets_.give_up_silent_links(limit); }
  bool gives_up_silent_links() const { return sockets_.gives_up_silent_links(); }

  /// Local: as Transport::drop_link().
  void drop(int partner) {
    if constexpr (P::survives_lost_partners) {
      sockets_.drop(partner);
      if (const auto found = open_.find(partner); found != open_.end()) {
        port_.close_lost(found->second);
        open_.erase(found);
      }
    }
  }

  /// Local: tells the partner that the link is lost, while messages of it are still under way.
  void shut(int partner) const { sockets_.shut(partner); }

  /// Local: of the links to these partners; see LinkSockets::loss_check().
  LossCheck loss_check(std::span<const std::int32_t> partners) const {
    return gives_up_silent_links() ? sockets_.loss_check(partners) : LossCheck();
  }

  /// What the library may go on to use until it is closed, though memory that it knows may not outlive it: so this is
  /// left to the end of the process.
  static void keep(std::shared_ptr<const void> parts) {
    static_cast<void>(std::make_unique<std::shared_ptr<const void>>(std::move(parts)).release());
  }

  /// Does the work, whose messages use `parts` and have these requests. Where a link is lost, they are abandoned.
  template <class Work>
  void keep_if_lost(const std::shared_ptr<const void>& parts, std::span<typename P::Request> requests,
                    const Work& work) {
    try {
      work();
    } catch (const cluster::ConnectionLost&) {
      if constexpr (P::survives_lost_partners) {
        if (!gives_up_silent_links()) throw;
        for (typename P::Request& request : requests) port_.abandon(request);
        keep(parts);
      }
      throw;
    }
  }

  /// As Transport::connect().
  Connected connect(int partner, Deadline deadline) {
    const Connected connected = partner == own_rank_ ? connect_to_self() : connect_to(partner, deadline);
    const bool is_greeted = connected == Connected::anew && partner != own_rank_;
    if (!is_greeted) greet(partner, deadline);
    return connected;
  }

  /// Local: connected before.
  typename P::Peer at(int partner) const {
    const auto found = open_.find(partner);
    assert(found != open_.end() && "connect() comes before everything else");
    return found->second;
  }

  /// Local: the same; nothing where the link has been given up.
  std::optional<typename P::Peer> find(int partner) const {
    const auto found = open_.find(partner);
    return found != open_.end() ? std::optional(found->second) : std::nullopt;
  }

  /// Local: throws Error(something_missing) where the limit has closed the link to one of them again; negative ones are
  /// left out.
  void require(std::span<const std::int32_t> partners) const {
    if constexpr (!P::keeps_endpoints) sockets_.all_ends(partners);
  }

 private:
  static std::size_t link_bound() {
    if constexpr (P::keeps_endpoints) {
      return 1;
    } else {
      return link_limit(1 + P::descriptors_per_endpoint);
    }
  }

  Connected connect_to_self() {
    if (open_.contains(own_rank_)) return Connected::again;
    open_.emplace(own_rank_, port_.open(port_.address()));
    return Connected::anew;
  }

  Connected connect_to(int partner, Deadline deadline) {
    if constexpr (P::keeps_endpoints) {
      if (open_.contains(partner)) return Connected::again;
      const Descriptor socket = rendezvous_.meet(partner, deadline, drive_);
      open_anew(partner, socket.fd(), deadline);
    } else {
      const std::chrono::milliseconds patience(deadline.left_ms());
      if (sockets_.connect(partner, deadline) == Connected::again) return Connected::again;
      if (gives_up_silent_links()) deadline = Deadline::after(patience);  // the partner may have come late
      close(partner);
      close_lost();
      open_anew(partner, sockets_.ends(partner).out, deadline);
    }
    return Connected::anew;
  }

  void open_anew(int partner, int socket, Deadline deadline) {
    const std::string address = exchange_addresses(socket, partner, port_.address(), deadline, drive_);
    open_.emplace(partner, port_.open(address));
    greet(partner, deadline);
    settle(partner, socket, deadline);
  }

  void close(int partner) {
    const auto found = open_.find(partner);
    if (found == open_.end()) return;
    port_.close(found->second);
    open_.erase(found);
  }

  /// Those whose socket had to make room for another.
  void close_lost() {
    std::erase_if(open_, [&](const auto& entry) {
      const bool is_lost = entry.first != own_rank_ && !sockets_.is_kept(entry.first);
      if (is_lost) port_.close(entry.second);
      return is_lost;
    });
  }

  /// An empty message each way, so that the library has set everything up.
  void greet(int partner, Deadline deadline) {
    const auto requests = std::make_shared<std::array<typename P::Request, 2>>();
    auto &in = requests->front(), &out = requests->back();
    const typename P::Memory nothing{};
    const WithLossCheck check(port_, loss_check(std::span(&partner, 1)));
    keep_if_lost(requests, *requests, [&] {
      on_link(partner, [&] {
        port_.post_receive(at(partner), {Kind::greeting, partner}, nothing, nullptr, 0, in);
        port_.post_send(at(partner), {Kind::greeting, own_rank_}, nothing, nullptr, 0, out);
        bool is_in = false, is_out = false;
        const bool is_well = drive_until(port_, deadline, [&] {
          is_in = is_in || port_.is_done(in);
          is_out = is_out || port_.is_done(out);
          return is_in && is_out;
        });
        if (!is_well) throw_late(partner);
      });
    });
  }

  /// Libraries go on setting up behind the first messages. Each rank drives its own until the other needs it no more:
  /// afterwards it may wait for another rank.
  void settle(int partner, int socket, Deadline deadline) {
    on_link(partner, [&] {
      if (!port_.flush(deadline)) throw_late(partner);
    });
    send_ready(socket, partner);
    if (!drive_until(port_, deadline, [&] { return has_sign(socket, partner); })) throw_late(partner);
  }

  P& port_;
  int own_rank_;
  cluster::Rendezvous& rendezvous_;
  ProgressFunction drive_;  ///< other ranks may need this one while it waits
  LinkSockets sockets_;     ///< none where endpoints are kept
  std::map<std::int32_t, typename P::Peer> open_;
};

}  // namespace leadline::transport::tagged
