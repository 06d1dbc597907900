// SPDX-License-Identifier: Apache-2.0
// The thread of each rank that watches the others over tree connections, and ends the run when one is dead, silent or
// stuck.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "cluster/connection.hpp"
#include "cluster/edge.hpp"
#include "cluster/failure.hpp"
#include "cluster/handshake.hpp"
#include "cluster/signals.hpp"
#include "core/descriptor.hpp"
#include "core/progress_counter.hpp"

namespace leadline::cluster {

class WatchEdge {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Message : std::uint8_t {
    host = 1,   ///< the first one: the process, and the name of its host, which may come again
    heartbeat,  ///< still there, and what the sender does
    failure,    ///< the run ends, and why
    reported,   ///< the sender has reported the reason to the user
    goodbye,    ///< the sender leaves in order
    stall,      ///< a rank gets no further, or goes on; upwards
    reached,    ///< the silent rank of the failure answers this one; upwards
  };

  WatchEdge(int rank, Descriptor socket, Clock::time_point now)
      : rank_(rank), socket_(std::move(socket)), heard_(now) {}

  /// Does not block; what the connection cannot take now goes with the next call.
  void send(Message message, std::string_view text = {});
  void flush();
  /// Takes in all that has come, and notes when the connection has ended.
  void receive(Clock::time_point now, const std::function<void(Message, std::string_view)>& take);

  int rank() const { return rank_; }
  int fd() const { return socket_.fd(); }
  bool has_more_to_send() const { return !outgoing_.empty(); }
  Clock::time_point heard() const { return heard_; }
  void forgive(Clock::duration pause) { heard_ += pause; }
  /// 0 = closed by the other side; else the error that ended the connection. Nothing while it stands.
  std::optional<int> end() const { return end_; }
  std::string who() const;  ///< "rank 3 on node1"

  std::string host;  ///< empty until it is known
  ProcessIdentity process;
  std::string current_step;  ///< as it said with its last heartbeat
  bool has_left = false;     ///< it said goodbye: whatever happens now is no failure
  bool has_reported = false;
  bool is_lost = false;  ///< its end or silence has been noticed; nothing more is expected of it

 private:
  int rank_;
  Descriptor socket_;
  std::string incoming_, outgoing_;
  Clock::time_point heard_;
  std::optional<int> end_;
};

/// Which rank is on which host; outlives the watch and does not change.
struct HostBook {
  std::vector<std::string> names;      ///< by host
  std::vector<std::uint32_t> host_of;  ///< by rank

  const std::string& name_of(int rank) const { return names[host_of[static_cast<std::size_t>(rank)]]; }
};

/// Read by the watch thread; `is_waiting` is written by the measuring thread around its collectives, in which a
/// rank may wait as long as the others need.
struct StallDetector {
  using Clock = std::chrono::steady_clock;

  ProgressCounter progress_counter;
  std::atomic<bool> is_waiting{false};

  /// How long nothing was achieved, if that is longer than allowed: `patience` inside one call into a file system, or
  /// inside a transport, where only a partner can help; much longer elsewhere.
  std::optional<Clock::duration> standstill(Clock::time_point now, Clock::duration patience) {
    const auto count = progress_counter.count.load(std::memory_order_relaxed);
    const std::uint64_t call_begin_ns = progress_counter.file_call.begin_ns();
    const State state = this->state();
    if (count != count_seen_ || call_begin_ns != call_begin_ns_seen_ || state != state_seen_) {
      count_seen_ = count;
      call_begin_ns_seen_ = call_begin_ns;
      state_seen_ = state;
      since_ = now;
    }
    if (state == State::waiting) return std::nullopt;
    const bool is_bounded = state == State::in_file_call || state == State::in_transport;
    const Clock::duration allowed = is_bounded ? patience : 10 * patience + std::chrono::minutes(1);
    if (now - since_ <= allowed) return std::nullopt;
    return now - since_;
  }
  void forgive(Clock::duration pause) { since_ += pause; }

 private:
  enum class State { waiting, in_transport, in_file_call, elsewhere };

  /// The innermost: a rank that waits for others may write what comes from them.
  State state() const {
    switch (progress_counter.file_call.kind()) {
      case FileCallKind::one_call:
        return State::in_file_call;
      case FileCallKind::many_calls:
        return State::elsewhere;
      case FileCallKind::none:
        break;
    }
    if (is_waiting.load(std::memory_order_relaxed)) return State::waiting;
    return progress_counter.in_transport.load(std::memory_order_relaxed) ? State::in_transport : State::elsewhere;
  }

  std::uint64_t count_seen_ = 0, call_begin_ns_seen_ = 0;
  State state_seen_ = State::elsewhere;
  Clock::time_point since_ = Clock::now();
};

/// A failure of any rank is sent over all watch edges to all ranks; better founded reasons replace weaker ones.
/// Rank 0 (rank 1 where rank 0 is lost) waits a moment for a better one, calls on_failure, prints it and ends;
/// the others end after it, because some launchers kill everybody as soon as one process is gone.
class Watch final : private JoinHandler {
 public:
  struct Settings {
    int rank = 0;
    int size = 1;
    std::string host;
    std::chrono::nanoseconds timeout{};
    std::function<SocketAddress(int rank)> address_of;  ///< called from the watch thread
  };

  /// The thread starts here and lives until leave() or destruction. References outlive the watch.
  Watch(Settings settings, Descriptor listener, RunKey key, ConnectionQueue& connection_queue, Bootstrap& bootstrap);
  ~Watch() override { leave(); }

  // All of these: from the measuring thread, without blocking unless said otherwise.
  void adopt_parent(int rank, Descriptor socket);
  bool has_edges() const { return has_edges_.load(); }
  StallDetector& stall_detector() { return stall_detector_; }
  void set_current_step(std::function<std::string(int rank)> current_step);
  void tell_current_step();
  void set_on_failure(std::function<void(const std::string& message)> on_failure);

  /// The hosts of all ranks are known. This host's name may be another one than before: the others have hosts of that
  /// name, too.
  void learn_hosts(const HostBook& hosts);

  /// `lost_partner`: whose link it is that broke, or -1.
  [[noreturn]] void abort(Failure failure, int lost_partner = -1);
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
    const HostBook* hosts = nullptr;
    int lost_partner = -1;  ///< of the failure
    bool tell_step = false;
    bool leave = false;
  };

  bool expects(const Hello& hello) const override;
  void admit(const Hello& hello, Descriptor socket) override;

  void order(const std::function<void(Orders&)>& write);
  void run();
  void sleep_until_something();
  Clock::time_point next_due() const;
  void forgive_own_absence();
  bool take_orders();
  void adopt(WatchEdge edge);
  void listen_to(WatchEdge& edge);
  void look_for_trouble();
  void look_at_own_progress();
  void begin_stall(AwaitedRanks::Ranks awaited, Clock::duration lasts);
  void end_stall();
  void probe(const std::vector<std::int32_t>& ranks);
  void serve_probes();
  void take_stall(const Stall& stall);
  void tell_parent(WatchEdge::Message message, const std::string& text);
  void show_stall();
  std::string partner_text(const Stall& stall) const;
  void send_heartbeats();
  void note(Failure failure, const WatchEdge* heard_from);

  // After a failure.
  void probe_silent_rank();
  void explain();
  bool has_lost_all_hosts() const;
  const WatchEdge* parent() const;
  bool reports() const;
  void consider_the_end();
  [[noreturn]] void report();
  [[noreturn]] void end();
  bool was_given_up() const;
  void within(Clock::duration patience, const std::function<void()>& work, const std::function<void()>& too_late) const;

  std::string greeting() const;
  std::string own_name() const;
  std::string name_of(int rank) const;
  std::string current_step_of(int rank);

  Settings settings_;
  const Clock::duration interval_;  ///< between heartbeats
  ConnectionQueue& connection_queue_;
  Bootstrap& bootstrap_;
  StallDetector stall_detector_;
  std::atomic<bool> has_edges_{false};

  std::mutex mutex_;  ///< guards the next three
  Orders orders_;
  std::function<std::string(int)> current_step_;
  std::function<void(const std::string&)> on_failure_;
  Descriptor wake_;

  // The watch thread's own.
  std::optional<SignalPipe> signals_;  ///< until leave(), after which signals end the process as ever
  const RunKey key_;
  HandshakeAcceptor handshake_acceptor_;
  std::list<WatchEdge> edges_;
  Clock::time_point now_, awake_by_, next_heartbeat_;
  Clock::time_point back_since_{};  ///< when this process went on after an absence longer than the timeout
  std::optional<BrokenEdge> broken_;
  Clock::time_point broken_since_{};
  const HostBook* hosts_ = nullptr;

  struct Probe {
    int rank = 0;
    Call call;
  };
  std::list<Probe> probes_;  ///< of those that this rank waits for, or of the one that is silent
  Clock::time_point probing_until_{};
  std::optional<Stall> own_stall_;
  std::optional<Failure> held_;  ///< a lost link, until it is known whether the partner answers
  std::vector<Stall> stalls_;    ///< of this rank and of those below it
  std::optional<Stall> shown_stall_;
  Clock::time_point stalled_since_{};

  std::optional<Failure> failure_;
  Clock::time_point failing_since_{};
  std::string reached_by_;  ///< a rank that the silent one answers
  bool parent_ended_after_failure_ = false;

  std::thread thread_;
};

}  // namespace leadline::cluster
