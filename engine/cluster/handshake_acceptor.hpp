// SPDX-License-Identifier: Apache-2.0
// The listening side: accepts connections, lets those in that prove to be of the run, forgets all others.
#pragma once

#include <poll.h>

#include <chrono>
#include <list>
#include <vector>

#include "cluster/handshake.hpp"
#include "cluster/socket.hpp"

namespace leadline::cluster {

/// Who is expected, and what becomes of a connection that was let in.
class JoinHandler {
 public:
  virtual ~JoinHandler() = default;
  virtual bool expects(const Hello& hello) const = 0;
  virtual void admit(const Hello& hello, Socket socket) = 0;
};

/// Nothing here blocks. Who says nothing, or nonsense, costs one descriptor for a few seconds; of those who
/// have not said hello yet the oldest goes when there are too many (an honest caller calls again).
class HandshakeAcceptor {
 public:
  using Clock = std::chrono::steady_clock;

  HandshakeAcceptor(Socket listener, RunKey key) : listener_(std::move(listener)), key_(key) {}

  /// What to poll for.
  void add_to(std::vector<pollfd>& polled) const;
  /// When serve must run even if nothing came.
  Clock::time_point next_due() const;
  void serve(Clock::time_point now, JoinHandler& join_handler);

 private:
  struct PendingConnection {
    Socket socket;
    Clock::time_point expires;
    SealedHello bytes{};
    std::size_t num_read = 0;
  };
  enum class Verdict { wait, leave, admit };

  void accept_all(Clock::time_point now);
  Verdict read_hello(PendingConnection& pending) const;

  Socket listener_;
  RunKey key_;
  std::list<PendingConnection> pending_connections_;  ///< oldest first
  Clock::time_point rest_until_{};
};

}  // namespace leadline::cluster
