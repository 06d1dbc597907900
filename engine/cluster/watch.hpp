// SPDX-License-Identifier: Apache-2.0
// The thread of each rank that watches the others over tree connections, and ends the run when one is dead, silent or
// stuck.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "cluster/cluster.hpp"
#include "cluster/connection.hpp"
#include "cluster/edge.hpp"
#include "cluster/failure.hpp"
#include "cluster/handshake.hpp"
#include "cluster/orphan.hpp"
#include "cluster/relay.hpp"
#include "cluster/signals.hpp"
#include "core/clock.hpp"
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
    suspect,    ///< the sender, or one below it, has lost a rank; upwards, where the run goes on without lost ranks
    lost,       ///< the root has given up a rank
    unreached,  ///< the same of those that a new root has not reached, which may yet go on without it
    partial,    ///< what a rank has of that which is being measured, when the run fails; upwards
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
  /// Whether packets get lost on it: the kernel has had to send again often, or never. To be asked again and again.
  enum class Losses : std::uint8_t { none, some, many };
  Losses losses(Clock::time_point now, Clock::duration within);
  /// 0 = closed by the other side; else the error that ended the connection. Nothing while it stands.
  std::optional<int> end() const { return end_; }
  std::string who() const;  ///< "rank 3 on node1"

  std::string host;  ///< empty until it is known
  ProcessIdentity process;
  std::string current_step;  ///< as it said with its last heartbeat
  Clock::time_point step_heard{};
  bool has_left = false;  ///< it said goodbye: whatever happens now is no failure
  bool has_reported = false;
  bool knows_failure = false;  ///< it has sent one, and will end
  bool is_lost = false;        ///< its end or silence has been noticed; nothing more is expected of it

 private:
  int rank_;
  Descriptor socket_;
  std::string incoming_, outgoing_;
  Clock::time_point heard_;
  std::optional<int> end_;
  struct Resends {
    Clock::time_point at;
    std::uint32_t num = 0;
  };
  std::deque<Resends> resends_;  ///< so far, now and then
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

  /// How long nothing was achieved, if that is longer than allowed: `patience` inside one call into a file system
  /// (since it began), or inside a transport, where only a partner can help; much longer elsewhere.
  std::optional<Clock::duration> standstill(Clock::time_point now, Clock::duration patience) {
    const auto count = progress_counter.count.load(std::memory_order_relaxed);
    const std::uint64_t call_begin_ns = progress_counter.file_call.begin_ns();
    const bool makes_short_calls = progress_counter.file_call.kind() == FileCallKind::many_short_calls;
    std::string system_call = makes_short_calls ? progress_counter.file_call.system_call() : std::string();
    State state = this->state();
    if (!system_call.empty()) state = State::in_file_call;
    if (count != count_seen_ || call_begin_ns != call_begin_ns_seen_ || state != state_seen_ ||
        system_call != system_call_seen_) {
      count_seen_ = count;
      call_begin_ns_seen_ = call_begin_ns;
      const bool is_one_call = state == State::in_file_call && system_call.empty();
      since_ = is_one_call ? std::max(not_before_, now - age_of(call_begin_ns)) : now;
      system_call_seen_ = std::move(system_call);
      state_seen_ = state;
    }
    if (state == State::waiting) return std::nullopt;
    const bool is_bounded = state == State::in_file_call || state == State::in_transport;
    const Clock::duration allowed = is_bounded ? patience : 10 * patience + std::chrono::minutes(1);
    if (now - since_ <= allowed) return std::nullopt;
    return now - since_;
  }
  /// When the file call that was seen last will have lasted so long; nothing outside of one.
  std::optional<Clock::time_point> will_have_lasted(Clock::duration patience) const {
    return state_seen_ == State::in_file_call ? std::optional(since_ + patience) : std::nullopt;
  }
  /// Of a pause that ends now.
  void forgive(Clock::duration pause, Clock::time_point now) {
    since_ += pause;
    not_before_ = now;
  }

 private:
  enum class State { waiting, in_transport, in_file_call, elsewhere };

  /// The innermost: a rank that waits for others may write what comes from them.
  State state() const {
    switch (progress_counter.file_call.kind()) {
      case FileCallKind::one_call:
      case FileCallKind::joint_call:
        return State::in_file_call;
      case FileCallKind::many_short_calls:
      case FileCallKind::many_calls:
        return State::elsewhere;
      case FileCallKind::none:
        break;
    }
    if (is_waiting.load(std::memory_order_relaxed)) return State::waiting;
    return progress_counter.in_transport.load(std::memory_order_relaxed) ? State::in_transport : State::elsewhere;
  }

  static Clock::duration age_of(std::uint64_t call_begin_ns) {
    const std::uint64_t now = now_ns();
    return std::chrono::nanoseconds(now - std::min(now, call_begin_ns));
  }

  std::uint64_t count_seen_ = 0, call_begin_ns_seen_ = 0;
  std::string system_call_seen_;
  State state_seen_ = State::elsewhere;
  Clock::time_point since_ = Clock::now(), not_before_{};
};

/// What a rank gets that has lost its parent: a connection for collectives to the root, or the root's part.
struct NewParent {
  int number = 0;  ///< counted from 1
  int rank = -1;   ///< this rank itself: it is at the top; -1: nobody
  Descriptor socket = {};
};

/// A rank that lost its parent connects to another one, on its own or through a rank that reaches it.
class Attachment {
 public:
  using Clock = std::chrono::steady_clock;
  struct Route {
    int relay = -1;  ///< -1: none
    SocketAddress address;
  };

  /// `answer_patience`: for a process whose host has taken the connection.
  Attachment(int rank, int to, RunKey key, std::vector<Route> routes, Clock::duration answer_patience,
             Clock::time_point now);

  int to() const { return to_; }

  /// Does what can be done now. Nothing blocks.
  void serve(Clock::time_point now);
  void forgive(Clock::duration pause) { begun_at_ += pause; }
  bool is_made() const { return watch_ && collectives_ && to_tell_.empty(); }
  bool has_failed() const { return !is_made() && next_route_ > routes_.size(); }
  /// Whether the rank itself has turned this one away, or was about to end.
  bool was_turned_away() const { return was_turned_away_; }
  /// Whether its host says that its process is gone.
  bool was_refused() const { return was_refused_; }
  /// Ranks on the way to which packets got lost, and others that answered without that.
  const std::set<int>& lossy() const { return lossy_; }
  const std::set<int>& lossless() const { return lossless_; }
  /// Once it is made: the other end hears this first. Then it is not made until all of it is sent.
  void tell(const LastResult& last);
  /// Which one it heard last.
  std::optional<std::uint32_t> told() const { return told_; }
  /// Once it is made.
  Descriptor take_watch() { return std::move(watch_); }
  Descriptor take_collectives() { return std::move(collectives_); }

 private:
  void try_next_route(Clock::time_point now);
  void start(Purpose purpose);
  void tell_on();
  bool is_too_late(Clock::time_point now) const;
  void note_losses();

  int rank_, to_;
  RunKey key_;
  std::vector<Route> routes_;
  std::size_t next_route_ = 0;
  std::optional<Call> call_;
  bool is_to_relay_ = false;  ///< call_ is to the relay, not yet to the rank
  bool was_turned_away_ = false, was_refused_ = false;
  std::set<int> lossy_, lossless_;
  Clock::duration answer_patience_;
  Clock::time_point begun_at_{};
  Descriptor watch_, collectives_;
  std::string to_tell_;
  std::optional<std::uint32_t> told_;
};

/// Whether a rank leads already, or only if it may.
enum class Leads : std::uint8_t { already, not_yet };

/// Whether no other root can have as many ranks as one that has lost these, one after the other or at once: they may be
/// with another, unless they have ended. Of two equal parts that with the root goes on.
bool may_lead(std::span<const LostRank> lost, int num_ranks, Leads leads);

/// A failure of any rank is sent over all watch edges to all ranks; better founded reasons replace weaker ones.
/// The root (the next rank where the root is lost) waits a moment for a better one, calls on_failure, prints it and
/// ends; the others end after it, because some launchers kill everybody as soon as one process is gone.
class Watch final : private JoinHandler {
 public:
  struct Settings {
    int rank = 0;
    int size = 1;
    std::string host;
    std::chrono::nanoseconds timeout{};
    std::chrono::nanoseconds start_timeout{};           ///< how long ranks may take to come
    bool goes_on = false;                               ///< without those that do not come
    std::function<SocketAddress(int rank)> address_of;  ///< called from the watch thread
  };

  /// The thread starts here and lives until leave() or destruction. References outlive the watch.
  Watch(Settings settings, Descriptor listener, RunKey key, ConnectionQueue& connection_queue,
        const SocketsByRank& collective_sockets, const SocketsByRank& data_sockets, Bootstrap& bootstrap);
  ~Watch() override { leave(); }

  // All of these: from the measuring thread, without blocking unless said otherwise.
  void adopt_parent(int rank, Descriptor socket);
  bool has_edges() const { return has_edges_.load(); }
  StallDetector& stall_detector() { return stall_detector_; }
  void set_current_step(std::function<std::string(int rank)> current_step);
  void tell_current_step();
  void set_partial_result(std::function<std::string()> partial_result);
  void set_on_failure(std::function<void(const std::string&, const PartialResults&)> on_failure);

  /// The hosts of all ranks are known. This host's name may be another one than before: the others have hosts of that
  /// name, too.
  void learn_hosts(const HostBook& hosts);

  /// A child that has not come is not let in any more: it may still come to rank 0.
  void report_absent(int child);

  /// See Cluster. A rank is lost when the root says so: its neighbours in the tree tell the root that it is gone, and
  /// it has some time to connect to the root itself, if only a connection or a rank between them is gone.
  void go_on_without_lost_ranks(bool goes_on = true);
  /// See Cluster. The root is lost for a rank that does not reach it in any way. Such a rank connects to the lowest one
  /// that it does reach, and waits until that one has lost the root, too; where it reaches no lower one it is at the
  /// top of a tree to which others connect. Whether that goes on is decided when all that live have come, or were given
  /// up.
  void go_on_without_root() { goes_on_without_root_.store(true); }
  /// At the top: those that were given up and are not in `known`.
  std::vector<LostRank> lost_ranks_beside(std::span<const LostRank> known) const;
  bool is_lost(int rank) const;
  /// A collective is over; ranks that have lost their parent in it find its result here, if this one is at the top or
  /// comes to be there while it does something else. Where it gets a new parent, that one hears it at once: it may have
  /// missed the result, and this rank wait for it before the next collective.
  void publish(LastResult result);
  std::shared_ptr<const LastResult> last_result() const;
  /// At the top, blocks: the connection of a rank that has lost its parent, without which a collective cannot end;
  /// empty when the deadline has passed.
  Descriptor await_orphan(int rank, Deadline deadline);
  /// At the top: the result of that collective, where a rank has brought it along from the root before.
  std::optional<std::string> known_result(std::uint32_t sequence) const;
  /// At the top of a new tree: it goes on.
  void lead();
  /// At the top: more ranks may be elsewhere. Blocks until the process has ended for the loss of these.
  [[noreturn]] void end_with_fewer();
  /// Blocks: the parent after that number, for a rank that has lost its own. Nobody where none comes.
  NewParent new_parent(int number);
  /// Whether there is one already, another rank. What is published from then on it does not hear from the watch.
  bool has_new_parent(int number) const;

  /// `lost_partner`: whose link it is that broke, or -1.
  [[noreturn]] void abort(Failure failure, int lost_partner = -1);
  /// A collective cannot go on: blocks until the watch has found out why and ended the process.
  [[noreturn]] void await_end(const BrokenEdge& broken);
  /// See Cluster::leave(): in the collective that follows nobody is missed who is not there any more. A rank that has
  /// lost its parent and reaches no root, which may have left, gets nobody as new parent.
  void begin_to_leave() { leaves_.store(true); }
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
    int lost_partner = -1;           ///< of the failure
    std::optional<int> lost_parent;  ///< its number
    std::vector<int> absent;
    bool tell_step = false;
    bool lead = false, end_with_fewer = false;
    bool leave = false;
  };

  bool expects(const Hello& hello) const override;
  void admit(const Hello& hello, Descriptor socket) override;

  void order(const std::function<void(Orders&)>& write);
  void wake();
  void run();
  void sleep_until_something();
  Clock::time_point next_due() const;
  void forgive_own_absence();
  bool take_orders();
  void adopt(WatchEdge edge);
  void listen_to(WatchEdge& edge);
  void look_for_trouble();
  void look_at_own_progress();
  bool is_in_file_call() const;
  bool awaits_others_in_file_call() const;
  bool is_one_in_file_call() const;
  bool is_stuck_in_file_call() const;
  std::size_t num_others_in_file_calls(const Stall& stall) const;
  Clock::duration told_after() const;
  Clock::duration stall_patience() const;
  void begin_stall(AwaitedRanks::Ranks awaited, Clock::duration lasts);
  void end_stall();
  struct Probe {
    int rank = 0;
    Call call;
  };
  void probe(const std::vector<std::int32_t>& ranks);
  void call(const std::vector<std::int32_t>& ranks, std::list<Probe>& probes) const;
  void serve_probes();
  void take_stall(const Stall& stall);
  void tell_parent(WatchEdge::Message message, const std::string& text);
  void show_stall();
  std::string partner_text(const Stall& stall) const;
  void send_heartbeats();
  void note(Failure failure, const WatchEdge* heard_from);
  void tell_partial_result();
  void take_partial_result(std::string_view bytes);

  // Ranks that are left out.
  struct Suspect {
    Failure failure;
    Clock::time_point give_up_at;
    bool is_guess = false;           ///< it has not come to a new root
    bool has_ended = false;          ///< its host says so
    std::optional<Call> probe = {};  ///< from the root, of a rank that may be gone
  };
  struct Loss {
    Failure failure;
    bool has_ended = false;  ///< see LostRank
    bool is_told = false;    ///< to the user, by a root
  };
  static std::string packed_loss(int rank, const Loss& loss);
  void lose(WatchEdge& edge, Failure failure);
  void suspect(int rank, const Failure& failure, Clock::duration patience);
  Failure absence_of(int rank) const;
  void tell_losses();
  bool is_first_of_child(const Hello& hello) const;
  void tell_suspect(int rank, const Failure& failure);
  void take_suspect(const WatchEdge& from, std::string_view bytes);
  void probe(int rank, Suspect& suspect);
  void settle_suspects();
  void suspect_awaited();
  void suspect_unheard(int rank);
  void give_up(int rank, Loss loss);
  void forget(int rank, const Loss& loss, WatchEdge::Message message);
  LostRank lost_rank(int rank, const Loss& loss) const;
  void take_lost(WatchEdge::Message message, std::string_view bytes);
  void serve_orphans();
  void serve_relays();
  void finish_orphans_and_relays();
  void begin_attachment(Failure because);
  void serve_attachment();
  void attach_to(int rank);
  void end_attachment();
  void end_unattached();
  void leave_unattached();
  void pass_over(const Attachment& failed);
  void begin_to_lead();
  void give_new_parent(int rank, Descriptor socket);
  bool hand_over_attachment();
  std::vector<Attachment::Route> routes_to(int rank) const;
  [[noreturn]] void leave_as_lost(const std::string& why, const char* look_at = "the networks of both hosts");
  bool note_losses();
  void note_losses(const Attachment& attachment);
  void note_losses(const Probe& probe);
  void look_at_own_network();
  void serve_network_probes();
  std::vector<std::int32_t> ranks_on_other_hosts() const;
  bool loses_packets() const;
  Failure with_own_network(Failure failure) const;
  bool end_if_packets_get_lost();
  void end_with_first_loss();
  bool is_connected_to(int rank) const;

  // After a failure.
  void probe_silent_rank();
  void explain();
  bool has_lost_all_hosts() const;
  const WatchEdge* parent() const;
  bool is_top() const { return settings_.rank == root_; }
  int rank_after(int rank) const;
  bool reports() const;
  bool awaits_partial_results() const;
  void bring_partial_results();
  void consider_the_end();
  [[noreturn]] void report();
  [[noreturn]] void end();
  bool was_given_up() const;
  void within(Clock::duration patience, const std::function<void()>& work, const std::function<void()>& too_late) const;

  std::string greeting() const;
  std::string own_name() const;
  std::string name_of(int rank) const;
  std::string common_step_of(int rank) const;  ///< as every rank can tell it
  std::string current_step_of(int rank) const;

  Settings settings_;
  const Clock::duration interval_;  ///< between heartbeats
  ConnectionQueue& connection_queue_;
  const SocketsByRank &collective_sockets_, &data_sockets_;
  Bootstrap& bootstrap_;
  StallDetector stall_detector_;
  std::atomic<bool> has_edges_{false};

  mutable std::mutex mutex_;                  ///< guards the next nine
  std::vector<LostRank> lost_ranks_;          ///< at the top
  std::optional<LastResult> brought_result_;  ///< likewise, at a new one: the latest of those that orphans have
  int awaited_orphan_ = -1;                   ///< likewise
  std::shared_ptr<const LastResult> last_result_;
  NewParent new_parent_;  ///< for the measuring thread
  Orders orders_;
  std::function<std::string(int)> current_step_;
  std::function<std::string()> partial_result_;
  std::function<void(const std::string&, const PartialResults&)> on_failure_;
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

  std::list<Probe> probes_;  ///< of those that this rank waits for, or of the one that is silent
  Clock::time_point probing_until_{};
  std::optional<Stall> own_stall_;
  std::optional<Failure> held_;  ///< a lost link, until it is known whether the partner answers
  std::vector<Stall> stalls_;    ///< of this rank and of those below it
  std::optional<Stall> shown_stall_;
  Clock::time_point stalled_since_{};

  std::condition_variable new_parent_came_;
  std::atomic<bool> goes_on_{false};  ///< without lost ranks
  std::atomic<bool> goes_on_without_root_{false};
  std::atomic<bool> leaves_{false};
  int root_ = 0;  ///< at the top of the tree; this rank, too, before it leads
  bool leads_;    ///< whether it goes on for certain
  int parent_rank_;
  std::map<int, Suspect> suspects_;  ///< at the top: of all ranks; others: of those that they have told of
  std::map<int, Loss> lost_;
  std::size_t num_told_ = 0;  ///< of lost_ranks_
  std::set<int> absent_;      ///< children that did not come in time
  std::vector<ProcessIdentity> lost_processes_;
  std::optional<Failure> last_loss_;
  Clock::time_point last_loss_at_{};
  std::optional<Attachment> attachment_;
  std::optional<Failure> attached_because_;
  Clock::time_point attach_again_at_{}, attach_until_{};  ///< to one that does not know yet that it is at the top
  std::map<int, Loss> passed_over_;                       ///< the root, and those that could have been it: not reached
  int num_attachments_ = 0;
  std::map<std::uint32_t, Clock::time_point> lossy_hosts_, lossless_hosts_;  ///< others, and when that was last seen
  std::optional<Clock::time_point> losing_since_;                            ///< on all connections to other hosts
  std::list<Probe> network_probes_;  ///< to see whether that is this host's network
  Clock::time_point network_probed_at_{};
  std::list<Orphan> orphans_;  ///< at the top
  std::atomic<bool> has_orphans_{false};
  std::list<Relay> relays_;

  std::optional<Failure> failure_;
  Clock::time_point failing_since_{};
  std::string reached_by_;  ///< a rank that the silent one answers
  bool parent_ended_after_failure_ = false;
  PartialResults partial_results_;  ///< when the run fails: of this rank and of those below it
  std::optional<Call> call_to_root_;

  std::thread thread_;
};

}  // namespace leadline::cluster
