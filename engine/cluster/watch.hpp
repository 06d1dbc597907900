// SPDX-License-Identifier: Apache-2.0
// The watch: one thread a rank that lets connections in, listens for signs of life, and ends the run when one fails.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "cluster/connection_queue.hpp"
#include "cluster/edge.hpp"
#include "cluster/failure.hpp"
#include "cluster/handshake_acceptor.hpp"
#include "cluster/signals.hpp"
#include "cluster/stall_detector.hpp"
#include "cluster/watch_edge.hpp"

namespace leadline::cluster {

/// What is wrong anywhere is told over all watch edges to everybody, better founded reasons overtaking weaker ones.
/// Rank 0 (rank 1 where rank 0 is lost) waits a moment for a better one, calls on_failure, prints it and ends;
/// the others end after it, because some launchers kill everybody as soon as one process is gone.
class Watch final : private JoinHandler {
 public:
  struct Settings {
    int rank = 0;
    int size = 1;
    std::string host;
    std::chrono::nanoseconds timeout{};
  };

  /// The thread starts here and lives until leave() or destruction. References outlive the watch.
  Watch(Settings settings, Socket listener, RunKey key, ConnectionQueue& connection_queue, Bootstrap& bootstrap);
  ~Watch() override { leave(); }

  // All of these: from the measuring thread, without blocking unless said otherwise.
  void adopt_parent(int rank, Socket socket);
  bool has_edges() const { return has_edges_.load(); }
  StallDetector& stall_detector() { return stall_detector_; }
  void set_current_step(std::function<std::string(int rank)> current_step);
  void set_on_failure(std::function<void(const std::string& message)> on_failure);

  [[noreturn]] void abort(Failure failure);
  /// A collective cannot go on: blocks until the watch has found out why and ended the process.
  [[noreturn]] void await_end(const BrokenEdge& broken);
  /// Says goodbye to the neighbours and joins the thread. Repeating it does nothing.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;

  /// What the measuring thread wants.
  struct Orders {
    std::list<WatchEdge> edges;
    std::optional<Failure> failure;
    std::optional<BrokenEdge> broken;
    bool leave = false;
  };

  bool expects(const Hello& hello) const override;
  void admit(const Hello& hello, Socket socket) override;

  void order(const std::function<void(Orders&)>& write);
  void run();
  void sleep_until_something();
  Clock::time_point next_due() const;
  void forgive_own_absence();
  bool take_orders();
  void adopt(WatchEdge edge);
  void listen_to(WatchEdge& edge);
  void look_for_trouble();
  void send_heartbeats();
  void note(Failure failure, const WatchEdge* heard_from);

  // After a failure (watch_end.cpp).
  const WatchEdge* parent() const;
  bool reports() const;
  void consider_the_end();
  [[noreturn]] void report();
  [[noreturn]] void end();

  std::string own_name() const;
  std::string name_of(int rank) const;
  std::string current_step_of(int rank);

  const Settings settings_;
  const Clock::duration interval_;  ///< between heartbeats
  ConnectionQueue& connection_queue_;
  Bootstrap& bootstrap_;
  StallDetector stall_detector_;
  std::atomic<bool> has_edges_{false};

  std::mutex mutex_;  ///< guards the next three
  Orders orders_;
  std::function<std::string(int)> current_step_;
  std::function<void(const std::string&)> on_failure_;
  Socket wake_;

  // The watch thread's own.
  std::optional<SignalPipe> signals_;  ///< until leave(), after which signals end the process as ever
  HandshakeAcceptor handshake_acceptor_;
  std::list<WatchEdge> edges_;
  Clock::time_point now_, awake_by_, next_heartbeat_;
  std::optional<BrokenEdge> broken_;
  Clock::time_point broken_since_{};
  std::optional<Failure> failure_;
  Clock::time_point failing_since_{};
  bool parent_ended_after_failure_ = false;

  std::thread thread_;
};

}  // namespace leadline::cluster
