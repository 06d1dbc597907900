// SPDX-License-Identifier: Apache-2.0
// Listening for other ranks and connecting to them, and the socket options of the control plane.
#pragma once

#include <poll.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cluster/address.hpp"
#include "cluster/handshake.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {

/// Throws Error(something_missing) that tells of the limit of open files.
[[noreturn]] void throw_out_of_descriptors(int error_number);

/// Local: raises the limit of open files, as far as that is allowed, for a descriptor for each rank.
void allow_descriptors(int num_ranks);

/// Local: a listening socket (non-blocking). Port 0 takes any free one.
/// Throws Error(run_failed) "cannot listen on 127.0.0.1:60000 (Address already in use)".
Descriptor listen_on(const SocketAddress& address);

enum class Blocking { yes, no };
void set_blocking(int fd, Blocking blocking);

/// Small messages leave at once.
void set_no_delay(int fd);

/// How often the kernel has sent something again over this connection.
std::uint32_t num_resent(int fd);

/// How often it has sent the same again, with longer and longer pauses, without an answer so far.
std::uint32_t num_resent_in_vain(int fd);

/// One attempt to reach another rank, from the caller's side of the handshake; nothing here blocks.
class Call {
 public:
  enum class State { connecting, connected, said, answered, failed };

  Call(const SocketAddress& address, const Hello& hello, RunKey key);
  /// Over a connection to a rank that passes all bytes on to the one that is called.
  Call(Descriptor relayed, const Hello& hello, RunKey key);

  /// Does what can be done now.
  State advance();
  State state() const { return state_; }
  bool is_over() const { return state_ == State::answered || state_ == State::failed; }
  /// What to poll for until it is over.
  int fd() const { return socket_.fd(); }
  short events() const { return state_ == State::connecting ? POLLOUT : POLLIN; }
  /// Whether the host took the connection; the rank may yet be silent.
  bool was_connected() const { return was_connected_; }
  /// Whether nobody listens there any more: the process is gone, and its host says so.
  bool was_refused() const { return was_refused_; }
  /// Why it is not answered, so far.
  const std::string& why() const { return why_; }
  /// The connection, once it is answered: non-blocking, TCP_NODELAY.
  Descriptor take() { return std::move(socket_); }

 private:
  void fail(std::string why);
  void hear_challenge();
  void hear_answer();

  Hello hello_;
  RunKey key_;
  State state_ = State::connecting;
  bool was_connected_ = false, was_refused_ = false;
  std::string why_;
  Descriptor socket_;
  Nonce of_called_{};
  Challenge challenge_{};
  Answer answer_{};
  std::size_t num_read_ = 0;
};

/// Local, blocks: a connection that rank `hello.to` at `address` has answered; non-blocking, TCP_NODELAY.
/// Throws ConnectionLost with the last reason and the hint when the deadline passes, or a tenth of a second after
/// `is_given_up` is true.
Descriptor dial(const SocketAddress& address, const Hello& hello, const RunKey& key, Deadline deadline,
                const std::string& hint, const std::function<bool()>& is_given_up = {});

/// Local, blocks: one attempt, from any port of `from` (empty = the system chooses). Nothing where the connection is
/// refused or does not come about in time; `why` says how.
Descriptor connect_to(const SocketAddress& address, const std::optional<SocketAddress>& from, Deadline deadline,
                      std::string& why);

class ConnectionQueue {
 public:
  /// What one caller may have waiting for one purpose. Two ranks meet one connection after the other; more than one is
  /// left only where an attempt was given up.
  static constexpr std::size_t max_waiting_per_caller = 16;

  /// Local, does not block. Where the caller has too many, its oldest is closed.
  void leave(Purpose purpose, int from, Descriptor socket);
  /// Local, blocks: the connections of one caller for one purpose, in order; empty when the deadline has passed, or the
  /// caller is given up.
  Descriptor take(Purpose purpose, int from, Deadline deadline, const ProgressFunction& progress = {});

  /// Local: the rank is lost, and is not waited for any more.
  void give_up(int rank);
  bool has_given_up(int rank) const;

  /// Local: a watch edge stands; it has no socket to be taken.
  void note_watch_edge(int from);
  /// Local: the other end of a watch edge has said which host it is on.
  void note_host(int rank);
  /// Local, blocks until both are so: from now on a failure of that rank can be told with its host. False when the
  /// deadline has passed.
  bool await_host(int rank, Deadline deadline);
  /// Whether a tree edge of that kind from that child was ever let in.
  bool has_seen(Purpose purpose, int from) const;

 private:
  using Caller = std::pair<Purpose, int>;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Caller, std::deque<Descriptor>> waiting_;  ///< no entry is empty: memory is for those who wait
  std::set<Caller> seen_;                             ///< tree edges only; few
  std::set<int> given_up_;
  std::set<int> with_host_;  ///< ranks at the other ends of watch edges, at most three
};

}  // namespace leadline::cluster
