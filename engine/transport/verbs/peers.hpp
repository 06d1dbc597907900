// SPDX-License-Identifier: Apache-2.0
// The connections of one rank to its partners: addresses go by a socket, which stays open as long as the connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "transport/link_sockets.hpp"
#include "transport/transport.hpp"
#include "transport/verbs/adapter.hpp"
#include "transport/verbs/peer.hpp"

namespace leadline::transport::verbs {

/// Bounded as sockets are (see LinkSockets).
class Peers {
 public:
  Peers(Adapter& adapter, const Context& context, Service service);

  int own_rank() const { return own_rank_; }

  /// As LinkSockets::give_up_silent_links().
  void give_up_silent_links(std::chrono::milliseconds limit) { sockets_.give_up_silent_links(limit); }
  bool gives_up_silent_links() const { return sockets_.gives_up_silent_links(); }

  /// Local: as Transport::drop_link().
  void drop(int partner);

  /// As Transport::connect(). Both ends throw Error(something_missing) where their ports cannot be connected.
  Connected connect(int partner, Deadline deadline);

  /// Local: connected before.
  Peer& at(int partner) const;

  /// Local: the same; null where the link has been given up.
  Peer* find(int partner) const;

  /// Local: throws Error(something_missing) where the limit has closed the link to one of them again; negative ones
  /// are left out.
  void require(std::span<const std::int32_t> partners) const { sockets_.all_ends(partners); }

  /// Partners: both are ready for what comes, and tell each other something by the way. With several partners, in
  /// ascending order. Oneself is told what one tells. May wait for ever: the watch (cluster/) ends a rank whose partner
  /// is gone. Where the partner is lost it is given up, and this throws cluster::ConnectionLost.
  std::string agree(int partner, std::string_view told) const;

 private:
  Connected open_loop();
  void open(int partner, Deadline deadline);
  void close_lost();

  Adapter& adapter_;
  int own_rank_;
  Service service_;
  LinkSockets sockets_;

  /// The adapter knows it as long as it lives.
  struct Open {
    Adapter& adapter;
    std::unique_ptr<Peer> peer;
    Open(Adapter& of, std::unique_ptr<Peer> made) : adapter(of), peer(std::move(made)) {}
    Open(Open&&) = default;
    Open& operator=(Open&&) = delete;
    ~Open() {
      if (peer) adapter.forget(*peer);
    }
  };
  std::map<std::int32_t, Open> open_;
};

}  // namespace leadline::transport::verbs
