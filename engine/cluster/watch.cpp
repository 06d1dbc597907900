// SPDX-License-Identifier: Apache-2.0
// The thread of each rank that watches the others over tree connections, and ends the run when one is dead, silent or
// stuck.
#include "cluster/watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>

#include "cluster/bytes.hpp"
#include "cluster/tcp_cluster.hpp"
#include "core/deadline.hpp"
#include "core/terminal.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t frame_header_bytes = 3;
// A stopped rank takes nothing; its heartbeats need not pile up here.
constexpr std::size_t outgoing_size_max = std::size_t{256} * 1024;

using namespace std::chrono_literals;

// How long a collective's broken connection may stay without a reason. The watch sees a death at once, so this
// is for a rank that left in order while others still count on it.
constexpr auto reason_patience = 1s;
// While a run is ending, things are looked at this often.
constexpr auto ending_interval = 20ms;

// For a better founded reason to arrive: it crosses the tree in milliseconds, on loaded cores in tens of them.
constexpr auto grace = 300ms;
// How long a rank stays for the sake of the one that reports: normally until its parent is gone. One that has
// lost its parent cannot know, and stays long enough for the grace and a few writes.
constexpr auto stay_max = 6s;
constexpr auto stay_of_orphan = 2s;
// on_failure writes to a file system that may be what failed.
constexpr auto on_failure_patience = 5s;
constexpr auto on_failure_patience_of_stuck = 1500ms;  // where a file system has not answered for the timeout

constexpr auto stuck_watch_patience = 30s;
// For the launcher's library to pass on that all shall end.
constexpr auto end_all_patience = 2s;
// Long enough for a connection whose first packet is lost.
constexpr auto probe_patience = 1500ms;
constexpr std::size_t num_probes_max = 32, num_stalls_max = 4096;
// Names of files are long.
constexpr std::size_t step_size_max = 1024;
// Of a run that gives up sooner nobody needs to hear that it waits.
constexpr auto shown_timeout_min = 8s;
// For a rank that another has lost to connect to the root by itself, which it does within milliseconds where only a
// connection broke.
constexpr auto suspect_patience = 3s;
constexpr auto refused_patience = 300ms;  // where its host says that it is gone
constexpr std::size_t num_relays_tried = 3;
// Until a rank has found a new way to another or knows that there is none.
constexpr auto answer_patience_max = 3s;  // of its process, once its host has taken the connection
constexpr auto attachment_patience = answer_patience_max + num_relays_tried * probe_patience + 1s;
// Of two ranks that have lost the root one may know it so much later than the other: by a heartbeat, and by what it
// takes to try all ways to the root and to those that could have followed it.
constexpr auto new_root_patience = 2 * attachment_patience + suspect_patience;
constexpr auto attachment_interval = 100ms;
// Heartbeats of a healthy network are sent again once in a while; of a lossy one with waits of seconds between.
constexpr std::uint32_t num_resends_of_many = 2;
// Of a connection over which heartbeats would have shown it.
constexpr auto least_age_without_losses = 2s;
// For a root that turns a rank away, since it may be about to end.
constexpr auto turned_away_patience = 1s;
constexpr std::size_t num_losses_told = 8;
constexpr auto late_end_patience = 2s;
// Those below a rank that is gone find out by themselves that they have to bring theirs to rank 0.
constexpr auto partial_result_patience = 2 * probe_patience;
// Within so long after a rank has died its launcher has told all others to stop, if it does.
constexpr auto launcher_patience = 5s;
// Longer than a call takes on a loaded file system.
constexpr auto told_file_call_after = 1min;
// Within so long after its own absence a rank notices that the others are gone, or is told to go.
constexpr auto time_to_notice = 2s;

/// Sequence numbers of collectives, which begin again from 0.
bool is_before(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t distance = (other - one) & sequence_mask;
  return distance != 0 && distance <= sequence_mask / 2;
}

std::string line_of(const std::string& text) { return std::string(over_progress()) + "leadline: " + text + "\n"; }

void write_line(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(STDERR_FILENO, line.data() + at, line.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace

void WatchEdge::send(Message message, std::string_view text) {
  if (end_ || outgoing_.size() > outgoing_size_max) return;
  append(outgoing_, static_cast<std::uint8_t>(message));
  append(outgoing_, static_cast<std::uint16_t>(text.size()));
  outgoing_.append(text);
  flush();
}

void WatchEdge::flush() {
  while (!outgoing_.empty()) {
    const ssize_t sent = ::send(socket_.fd(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      outgoing_.clear();  // receive() finds out what happened, after reading what the other still had to say
      return;
    }
    outgoing_.erase(0, static_cast<std::size_t>(sent));
  }
}

void WatchEdge::receive(Clock::time_point now, const std::function<void(Message, std::string_view)>& take_in) {
  char bytes[4096];
  while (!end_) {
    const ssize_t got = ::recv(socket_.fd(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      end_ = got == 0 || errno == ECONNRESET || errno == EPIPE ? 0 : errno;
      break;
    }
    heard_ = now;
    incoming_.append(bytes, static_cast<std::size_t>(got));
  }
  std::size_t at = 0;
  while (incoming_.size() - at >= frame_header_bytes) {
    const auto length = take<std::uint16_t>(incoming_.data() + at + 1);
    if (incoming_.size() - at < frame_header_bytes + length) break;
    const auto message = static_cast<Message>(take<std::uint8_t>(incoming_.data() + at));
    take_in(message, std::string_view(incoming_).substr(at + frame_header_bytes, length));
    at += frame_header_bytes + length;
  }
  incoming_.erase(0, at);
}

WatchEdge::Losses WatchEdge::losses(Clock::time_point now, Clock::duration within) {
  resends_.push_back({now, num_resent(socket_.fd())});
  while (resends_.size() > 1 && now - resends_[1].at >= within) resends_.pop_front();
  const std::uint32_t num = resends_.back().num - resends_.front().num;
  if (num >= num_resends_of_many) return Losses::many;
  return num > 0 || now - resends_.front().at < least_age_without_losses ? Losses::some : Losses::none;
}

std::string WatchEdge::who() const {
  return host.empty() ? fmt::format("rank {}", rank_) : fmt::format("rank {} on {}", rank_, host);
}

Watch::Watch(Settings settings, Descriptor listener, RunKey key, ConnectionQueue& connection_queue,
             const SocketsByRank& collective_sockets, const SocketsByRank& data_sockets, Bootstrap& bootstrap)
    : settings_(std::move(settings)),
      interval_(std::clamp<Clock::duration>(settings_.timeout / 10, 50ms, 1s)),
      connection_queue_(connection_queue),
      collective_sockets_(collective_sockets),
      data_sockets_(data_sockets),
      bootstrap_(bootstrap),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      signals_(std::in_place),
      key_(key),
      handshake_acceptor_(std::move(listener), key),
      now_(Clock::now()),
      awake_by_(now_),
      next_heartbeat_(now_ + interval_),
      goes_on_(settings_.goes_on),
      leads_(settings_.rank == 0),
      parent_rank_(settings_.rank > 0 ? parent_of(settings_.rank) : -1) {
  if (!wake_) throw Error(ExitStatus::run_failed, "cannot start the watch", system_error_text(errno));
  thread_ = std::thread([this] { run(); });
}

void Watch::order(const std::function<void(Orders&)>& write) {
  {
    const std::lock_guard lock(mutex_);
    write(orders_);
  }
  wake();
}

void Watch::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.fd(), &one, sizeof one);
}

void Watch::adopt_parent(int rank, Descriptor socket) {
  has_edges_.store(true);
  order([&](Orders& orders) { orders.edges.emplace_back(rank, std::move(socket), Clock::now()); });
}

void Watch::report_absent(int child) {
  order([=](Orders& orders) { orders.absent.push_back(child); });
}

void Watch::set_current_step(std::function<std::string(int)> current_step) {
  const std::lock_guard lock(mutex_);
  current_step_ = std::move(current_step);
}

void Watch::tell_current_step() {
  order([](Orders& orders) { orders.tell_step = true; });
}

void Watch::set_partial_result(std::function<std::string()> partial_result) {
  const std::lock_guard lock(mutex_);
  partial_result_ = std::move(partial_result);
}

void Watch::set_on_failure(std::function<void(const std::string&, const PartialResults&)> on_failure) {
  const std::lock_guard lock(mutex_);
  on_failure_ = std::move(on_failure);
}

void Watch::leave() {
  if (!thread_.joinable()) return;
  order([](Orders& orders) { orders.leave = true; });
  thread_.join();
  signals_.reset();
}

bool Watch::expects(const Hello& hello) const {
  if (hello.to != static_cast<std::uint32_t>(settings_.rank)) return false;
  const int from = static_cast<int>(hello.from);
  if (hello.purpose == Purpose::peer) return from >= 0 && from < settings_.rank;
  if (hello.purpose == Purpose::probe) return from >= 0 && from < settings_.size;
  if (lost_.contains(from)) return false;
  const bool brings_results = failure_ && is_top() && hello.purpose == Purpose::watch;
  if (brings_results) return from >= 0 && from < settings_.size && from != settings_.rank;
  if (hello.purpose == Purpose::relay) return goes_on_ && from != settings_.rank;
  if (goes_on_ && is_top() && from > 0 && from < settings_.size && from != settings_.rank) return !is_lost(from);
  return is_first_of_child(hello);
}

bool Watch::is_first_of_child(const Hello& hello) const {
  const int from = static_cast<int>(hello.from);
  const std::vector<int> children = children_of(settings_.rank, settings_.size);
  return std::find(children.begin(), children.end(), from) != children.end() && !absent_.contains(from) &&
         !connection_queue_.has_seen(hello.purpose, from);
}

void Watch::admit(const Hello& hello, Descriptor socket) {
  const int from = static_cast<int>(hello.from);
  if (hello.purpose == Purpose::probe) return;  // it has its answer
  if (hello.purpose == Purpose::relay) {
    relays_.emplace_back(std::move(socket), settings_.address_of(root_));
    return;
  }
  if (goes_on_ && hello.purpose == Purpose::collectives && !is_first_of_child(hello)) {
    collective_sockets_.shut(from);  // of the one before
    orphans_.remove_if([&](const Orphan& orphan) { return orphan.rank() == from; });
    const auto begins = settings_.rank == 0 ? Orphan::Begins::with_collective : Orphan::Begins::with_last_result;
    orphans_.emplace_back(from, std::move(socket), begins);
    has_orphans_ = true;
    return;
  }
  if (goes_on_ && hello.purpose == Purpose::watch) {
    edges_.remove_if([&](const WatchEdge& edge) { return edge.rank() == from; });
    suspects_.erase(from);
  }
  if (hello.purpose != Purpose::watch) {
    connection_queue_.leave(hello.purpose, from, std::move(socket));
    return;
  }
  adopt(WatchEdge(from, std::move(socket), now_));
  has_edges_.store(true);
  connection_queue_.note_watch_edge(from);
}

void Watch::adopt(WatchEdge edge) {
  edge.send(WatchEdge::Message::host, greeting());
  if (failure_) edge.send(WatchEdge::Message::failure, packed(*failure_));
  // At a new top, which others may learn from it alone.
  for (const auto& [rank, loss] : lost_) {
    if (is_top() && settings_.rank != 0) edge.send(WatchEdge::Message::unreached, packed_loss(rank, loss));
  }
  edges_.push_back(std::move(edge));
}

void Watch::run() {
  signals_->unblock_here();
  for (;;) {
    sleep_until_something();
    forgive_own_absence();
    if (!take_orders()) break;
    try {
      handshake_acceptor_.serve(now_, *this);
    } catch (const Error& error) {
      note({FailureKind::own_error, error}, nullptr);
    }
    for (WatchEdge& edge : edges_) listen_to(edge);
    serve_orphans();
    serve_relays();
    look_for_trouble();
    settle_suspects();
    serve_attachment();
    send_heartbeats();
    if (!failure_) continue;
    bring_partial_results();
    consider_the_end();
  }
  for (WatchEdge& edge : edges_) edge.send(WatchEdge::Message::goodbye);
  finish_orphans_and_relays();
  for (const ProcessIdentity& process : lost_processes_) end_if_stopped_here(process);
}

/// The others may not have heard yet that all have come to the end.
void Watch::finish_orphans_and_relays() {
  const Deadline deadline = Deadline::after(late_end_patience);
  while (!(orphans_.empty() && relays_.empty()) && !deadline.has_passed()) {
    std::vector<pollfd> polled;
    for (const Orphan& orphan : orphans_) orphan.add_to(polled);
    for (const Relay& relay : relays_) relay.add_to(polled);
    ::poll(polled.data(), polled.size(), deadline.left_ms(100));
    serve_orphans();
    serve_relays();
  }
}

void Watch::serve_orphans() {
  if (orphans_.empty()) return;
  std::shared_ptr<const LastResult> last;
  int awaited = -1;
  {
    const std::lock_guard lock(mutex_);
    last = last_result_;
    awaited = awaited_orphan_;
  }
  for (Orphan& orphan : orphans_) {
    orphan.serve(last.get());
    if (auto brought = orphan.take_last_result()) {
      const std::lock_guard lock(mutex_);
      const bool is_later = !brought_result_ || is_before(brought_result_->sequence, brought->sequence);
      if (is_later) brought_result_ = std::move(brought);
    }
    if (orphan.is_answered() || (orphan.is_waiting() && orphan.rank() == awaited)) {
      connection_queue_.leave(Purpose::collectives, orphan.rank(), orphan.take());
    }
  }
  orphans_.remove_if([](const Orphan& orphan) { return orphan.is_gone(); });
  has_orphans_ = !orphans_.empty();
}

void Watch::serve_relays() {
  for (Relay& relay : relays_) relay.serve();
  relays_.remove_if([](const Relay& relay) { return relay.is_over(); });
}

Watch::Clock::time_point Watch::next_due() const {
  Clock::time_point due = std::min(next_heartbeat_, handshake_acceptor_.next_due());
  const bool is_probing = !probes_.empty() || !network_probes_.empty();
  const bool is_busy = failure_ || broken_ || attachment_ || is_probing || (is_top() && !suspects_.empty());
  if (is_busy) due = std::min(due, now_ + ending_interval);
  for (const Clock::duration patience : {told_after(), stall_patience()}) {
    const auto lasted = stall_detector_.will_have_lasted(patience);
    if (lasted && *lasted >= now_) due = std::min<Clock::time_point>(due, *lasted + 1ms);
  }
  return due;
}

void Watch::sleep_until_something() {
  std::vector<pollfd> polled{{wake_.fd(), POLLIN, 0}, {signals_->fd(), POLLIN, 0}};
  handshake_acceptor_.add_to(polled);
  for (const Orphan& orphan : orphans_) orphan.add_to(polled);
  for (const Relay& relay : relays_) relay.add_to(polled);
  for (const WatchEdge& edge : edges_) {
    if (edge.end()) continue;
    const int events = edge.has_more_to_send() ? POLLIN | POLLOUT : POLLIN;
    polled.push_back({edge.fd(), static_cast<short>(events), 0});
  }
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_due() - Clock::now());
  const int wait_ms = static_cast<int>(std::clamp<long long>(wait.count(), 0, 1000));
  awake_by_ = Clock::now() + std::chrono::milliseconds(wait_ms);
  ::poll(polled.data(), polled.size(), wait_ms);
  now_ = Clock::now();
}

/// When this process itself was stopped or starved, the others were not silent: we were deaf.
void Watch::forgive_own_absence() {
  const Clock::duration absence = now_ - awake_by_;
  if (absence < interval_) return;
  if (absence > settings_.timeout) back_since_ = now_;
  for (WatchEdge& edge : edges_) edge.forgive(absence);
  stall_detector_.forgive(absence, now_);
  if (attachment_) attachment_->forgive(absence);
  for (auto& [rank, suspect] : suspects_) suspect.give_up_at += absence;
  for (Clock::time_point* const moment : {&attach_until_, &probing_until_, &network_probed_at_, &broken_since_}) {
    *moment += absence;
  }
}

bool Watch::take_orders() {
  std::uint64_t count = 0;
  (void)!::read(wake_.fd(), &count, sizeof count);
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    std::swap(orders, orders_);
  }
  for (WatchEdge& edge : orders.edges) adopt(std::move(edge));
  if (orders.hosts != nullptr) {
    hosts_ = orders.hosts;
    settings_.host = hosts_->name_of(settings_.rank);
    for (WatchEdge& edge : edges_) edge.send(WatchEdge::Message::host, greeting());
    tell_losses();
  }
  for (const int child : orders.absent) {
    absent_.insert(child);
    if (!is_connected_to(child)) suspect(child, absence_of(child), suspect_patience);
  }
  if (orders.failure && orders.lost_partner >= 0 && !failure_) {
    held_ = std::move(orders.failure);
    begin_stall({{orders.lost_partner}, {}}, settings_.timeout);
  } else if (orders.failure) {
    note(*orders.failure, nullptr);
  }
  if (orders.tell_step) next_heartbeat_ = now_;
  if (orders.lead) {
    bootstrap_.going_on_without_lost_ranks();
    for (WatchEdge& edge : edges_) {
      const auto unreached = passed_over_.find(edge.rank());
      if (unreached != passed_over_.end())
        edge.send(WatchEdge::Message::lost, packed_loss(unreached->first, unreached->second));
    }
    passed_over_.clear();
    leads_ = true;
    tell_losses();
  }
  if (orders.end_with_fewer) end_with_first_loss();
  if (orders.lost_parent && *orders.lost_parent == num_attachments_ && !attachment_) {
    const WatchEdge* const above = parent();
    const std::string who = above != nullptr ? above->who() : name_of(parent_rank_);
    begin_attachment(hosts_ == nullptr ? nobody_to_join(own_name(), parent_rank_, seconds(settings_.start_timeout))
                                       : connection_lost(own_name(), who, current_step_of(parent_rank_), ECONNRESET));
  }
  if (orders.broken) {
    broken_ = orders.broken;
    broken_since_ = now_;
  }
  return !orders.leave || failure_;  // who leaves a failed run ends with it
}

void Watch::listen_to(WatchEdge& edge) {
  edge.flush();
  edge.receive(now_, [&](WatchEdge::Message message, std::string_view text) {
    if (message == WatchEdge::Message::host) {
      Reader reader(text);
      edge.process = take_process(reader);
      edge.host = reader.text();
      connection_queue_.note_host(edge.rank());
    }
    if (message == WatchEdge::Message::heartbeat) {
      edge.current_step = text;
      edge.step_heard = now_;
    }
    if (message == WatchEdge::Message::stall) {
      if (const auto stall = unpacked_stall(text)) take_stall(*stall);
    }
    if (message == WatchEdge::Message::reached) {
      reached_by_ = text;
      tell_parent(message, reached_by_);
    }
    if (message == WatchEdge::Message::suspect) take_suspect(edge, text);
    if (message == WatchEdge::Message::lost || message == WatchEdge::Message::unreached) take_lost(message, text);
    if (message == WatchEdge::Message::partial) take_partial_result(text);
    if (message == WatchEdge::Message::goodbye) edge.has_left = true;
    if (message == WatchEdge::Message::reported) edge.has_reported = true;
    if (message != WatchEdge::Message::failure) return;
    edge.knows_failure = true;
    if (const auto failure = unpacked(text)) note(*failure, &edge);
  });
  if (!edge.end() || edge.is_lost || edge.has_left) return;
  edge.is_lost = true;
  if (failure_ && &edge == parent()) parent_ended_after_failure_ = true;
  const bool ends_for_failure = failure_ && (edge.knows_failure || now_ - failing_since_ > grace);
  if (edge.has_reported || ends_for_failure) return;
  const std::string who = name_of(edge.rank()), current_step = current_step_of(edge.rank());
  // What it said may be a heartbeat old; what all know of its step is not.
  const bool is_own_word = current_step.size() > common_step_of(edge.rank()).size();
  const double said_before_s = is_own_word ? seconds(now_ - edge.step_heard) : 0;
  Failure gone = *edge.end() == 0 ? rank_died(who, current_step, said_before_s)
                                  : connection_lost(own_name(), who, current_step, *edge.end());
  gone.silent_process = edge.process;
  lose(edge, std::move(gone));
}

void Watch::look_for_trouble() {
  while (const auto signal_number = signals_->next()) {
    const std::string current_step = current_step_of(settings_.rank);
    note(*signal_number == SIGABRT ? abort_in(own_name(), current_step)
                                   : signal_to(own_name(), current_step, *signal_number),
         nullptr);
  }
  for (WatchEdge& edge : edges_) {
    if (edge.is_lost || edge.has_left || now_ - edge.heard() <= settings_.timeout) continue;
    edge.is_lost = true;
    Failure silent =
        rank_silent(name_of(edge.rank()), current_step_of(edge.rank()), seconds(settings_.timeout), edge.process);
    silent.silent_rank = edge.rank();
    silent.heard_by = settings_.rank;
    lose(edge, std::move(silent));
  }
  look_at_own_progress();
  serve_network_probes();
  show_stall();
  if (!broken_ || failure_) return;
  if (broken_->is_nonsense) {
    note({FailureKind::own_error,
          Error(ExitStatus::run_failed,
                fmt::format("{} and {} disagree about what comes next", own_name(), name_of(broken_->rank)),
                "a mistake in this program, or different builds of it", "Please report it")},
         nullptr);
  } else if (now_ - broken_since_ > reason_patience) {
    note(rank_left(name_of(broken_->rank), current_step_of(broken_->rank)), nullptr);
  }
}

void Watch::send_heartbeats() {
  if (now_ < next_heartbeat_) return;
  next_heartbeat_ = now_ + interval_;
  look_at_own_network();
  const std::string own_step = current_step_of(settings_.rank).substr(0, step_size_max);
  for (WatchEdge& edge : edges_) edge.send(WatchEdge::Message::heartbeat, own_step);
}

/// A rank that gets no further sees first whether those that it waits for answer at all.
void Watch::look_at_own_progress() {
  serve_probes();
  if (failure_) return;
  if (held_) {
    if (!probes_.empty()) return;
    const std::string partner = partner_text(*own_stall_), step = current_step_of(settings_.rank);
    if (own_stall_->is_cut_off) {
      note(ranks_cut_off(own_name(), partner, step, own_stall_->why), nullptr);
    } else {
      note(link_lost(own_name(), partner, step, held_->error), nullptr);
    }
    return;
  }
  const auto time = stall_detector_.standstill(now_, told_after());
  if (!time) {
    if (own_stall_) end_stall();
    return;
  }
  if (!own_stall_) begin_stall(stall_detector_.progress_counter.awaited_ranks.get(), *time);
  if (!probes_.empty() || !stall_detector_.standstill(now_, stall_patience())) return;
  const std::string step = current_step_of(settings_.rank);
  own_stall_->lasts_s = seconds(*time);
  own_stall_->awaits_others = awaits_others_in_file_call();
  own_stall_->step = step.substr(0, step_size_max);
  take_stall(*own_stall_);
  const bool is_in_file_calls = stall_detector_.progress_counter.file_call.kind() != FileCallKind::none;
  note(is_in_file_calls ? file_call_stuck(own_name(), step, seconds(*time))
                        : rank_stuck(own_name(), partner_text(*own_stall_), step, seconds(*time)),
       nullptr);
}

/// Of which each has the patience of a single call.
bool Watch::is_in_file_call() const {
  const FileCallKind kind = stall_detector_.progress_counter.file_call.kind();
  return kind == FileCallKind::one_call || kind == FileCallKind::joint_call || kind == FileCallKind::many_short_calls;
}

/// As far as the kernel tells.
bool Watch::awaits_others_in_file_call() const {
  const CurrentFileCall& call = stall_detector_.progress_counter.file_call;
  return call.kind() == FileCallKind::joint_call && call.file_system_call().empty();
}

Watch::Clock::duration Watch::told_after() const {
  if (!is_in_file_call()) return settings_.timeout / 2;
  return std::min<Clock::duration>(settings_.timeout / 4, told_file_call_after);
}

/// Where others are waited for: later than silence is noticed, so that a silent rank is named before those who wait for
/// it, or until it is left out.
Watch::Clock::duration Watch::stall_patience() const {
  const FileCallKind kind = stall_detector_.progress_counter.file_call.kind();
  if (kind == FileCallKind::joint_call) return settings_.timeout + interval_ + 200ms;
  if (is_in_file_call()) return settings_.timeout;
  Clock::duration patience = settings_.timeout + 3 * interval_ + 200ms;
  if (goes_on_) patience += attachment_patience + 2 * suspect_patience;
  if (goes_on_without_root_) patience += new_root_patience;
  return patience;
}

void Watch::begin_stall(AwaitedRanks::Ranks awaited, Clock::duration lasts) {
  const bool is_in_file_call = this->is_in_file_call();
  if (is_in_file_call) awaited = {};
  std::vector<std::int32_t>& partners = awaited.partners;
  partners.erase(std::remove(partners.begin(), partners.end(), settings_.rank), partners.end());
  own_stall_ = Stall{settings_.rank,
                     partners.size() == 1 ? partners.front() : -1,
                     false,
                     seconds(lasts),
                     {},
                     {},
                     is_in_file_call,
                     awaits_others_in_file_call()};
  own_stall_->step = current_step_of(settings_.rank).substr(0, step_size_max);
  partners.insert(partners.end(), awaited.in_barrier.begin(), awaited.in_barrier.end());
  if (partners.size() > num_probes_max) partners.resize(num_probes_max);
  probe(partners);
  take_stall(*own_stall_);
}

void Watch::end_stall() {
  own_stall_->lasts_s = 0;
  take_stall(*own_stall_);
  own_stall_.reset();
  probes_.clear();
}

void Watch::probe(const std::vector<std::int32_t>& ranks) {
  probing_until_ = now_ + probe_patience;
  call(ranks, probes_);
}

void Watch::call(const std::vector<std::int32_t>& ranks, std::list<Probe>& probes) const {
  for (const std::int32_t rank : ranks) {
    if (rank < 0 || rank >= settings_.size) continue;
    const Hello hello{Purpose::probe, static_cast<std::uint32_t>(settings_.rank), static_cast<std::uint32_t>(rank)};
    try {
      probes.push_back({rank, Call(settings_.address_of(rank), hello, key_)});
    } catch (const Error&) {
      return;  // no descriptor left: nothing is known then
    }
  }
}

/// Takes away the probes that are over.
void Watch::serve_probes() {
  const bool is_late = now_ > probing_until_;
  for (auto probe = probes_.begin(); probe != probes_.end();) {
    const auto state = probe->call.advance();
    if (!probe->call.is_over() && !is_late) {
      ++probe;
      continue;
    }
    const bool is_reached = state == Call::State::answered;
    if (failure_ && failure_->silent_rank == probe->rank && is_reached) {
      reached_by_ = own_name();
      tell_parent(WatchEdge::Message::reached, reached_by_);
    }
    if (own_stall_ && !probe->call.was_connected() && !own_stall_->is_cut_off) {
      own_stall_->partner = probe->rank;
      own_stall_->is_cut_off = true;
      own_stall_->why = "a new connection: " + probe->call.why();
      take_stall(*own_stall_);
    }
    probe = probes_.erase(probe);
  }
}

void Watch::take_stall(const Stall& stall) {
  const auto known =
      std::find_if(stalls_.begin(), stalls_.end(), [&](const Stall& one) { return one.rank == stall.rank; });
  if (known != stalls_.end()) stalls_.erase(known);
  if (stall.lasts_s > 0 && stalls_.size() < num_stalls_max) {
    if (stalls_.empty()) stalled_since_ = now_;
    stalls_.push_back(stall);
    stalls_.back().taken_at = now_;
  }
  tell_parent(WatchEdge::Message::stall, packed(stall));
}

void Watch::tell_parent(WatchEdge::Message message, const std::string& text) {
  for (WatchEdge& edge : edges_) {
    if (&edge == parent()) edge.send(message, text);
  }
}

/// Rank 0 tells of a long stall while it lasts, once all have said for whom they wait.
void Watch::show_stall() {
  if (!is_top() || failure_) return;
  if (shown_stall_) {
    const bool is_over = std::none_of(stalls_.begin(), stalls_.end(),
                                      [&](const Stall& stall) { return stall.rank == shown_stall_->rank; });
    if (!is_over) return;
    shown_stall_->lasts_s = 0;
    write_line(line_of(stall_line(name_of(shown_stall_->rank), {}, *shown_stall_, 0)));
    shown_stall_.reset();
    return;
  }
  const auto cause = first_cause(stalls_);
  if (!cause || settings_.timeout < shown_timeout_min) return;
  if (now_ - stalled_since_ < (cause->is_in_file_call ? grace : probe_patience + grace)) return;
  shown_stall_ = cause;
  write_line(line_of(stall_line(name_of(cause->rank), partner_text(*cause), *cause, seconds(settings_.timeout),
                                num_others_in_file_calls(*cause))));
}

/// Whatever file systems these are.
std::size_t Watch::num_others_in_file_calls(const Stall& stall) const {
  const auto is_other = [&](const Stall& one) { return one.is_in_file_call && one.rank != stall.rank; };
  return stall.is_in_file_call ? static_cast<std::size_t>(std::ranges::count_if(stalls_, is_other)) : 0;
}

std::string Watch::partner_text(const Stall& stall) const {
  return stall.partner >= 0 ? name_of(stall.partner) : std::string();
}

/// Whether a silent rank is silent for everybody: those next to rank 0 see for themselves.
void Watch::probe_silent_rank() {
  constexpr int last_observer = 2;
  const int silent = failure_->silent_rank;
  if (silent < 0 || settings_.rank > last_observer || settings_.rank == failure_->heard_by ||
      settings_.rank == silent) {
    return;
  }
  probes_.clear();
  own_stall_.reset();
  probe({silent});
}

bool may_lead(std::span<const LostRank> lost, int num_ranks, Leads leads) {
  const auto num_elsewhere =
      std::ranges::count_if(lost, [](const LostRank& rank) { return rank.was_there && !rank.has_ended; });
  const auto num_here = num_ranks - std::ssize(lost);
  return leads == Leads::already ? num_here >= num_elsewhere : num_here > num_elsewhere;
}

void Watch::go_on_without_lost_ranks(bool goes_on) { goes_on_.store(goes_on); }

std::vector<LostRank> Watch::lost_ranks_beside(std::span<const LostRank> known) const {
  const std::lock_guard lock(mutex_);
  std::vector<LostRank> others = lost_ranks_;
  std::erase_if(others, [&](const LostRank& lost) { return cluster::is_lost(known, lost.rank); });
  return others;
}

bool Watch::is_lost(int rank) const {
  const std::lock_guard lock(mutex_);
  return cluster::is_lost(lost_ranks_, rank);
}

void Watch::publish(LastResult result) {
  auto last = std::make_shared<const LastResult>(std::move(result));
  {
    const std::lock_guard lock(mutex_);
    std::swap(last_result_, last);
  }
  if (has_orphans_) wake();
}

std::shared_ptr<const LastResult> Watch::last_result() const {
  const std::lock_guard lock(mutex_);
  return last_result_;
}

Descriptor Watch::await_orphan(int rank, Deadline deadline) {
  const auto await = [this](int awaited) {
    const std::lock_guard lock(mutex_);
    awaited_orphan_ = awaited;
  };
  await(rank);
  wake();
  Descriptor socket = connection_queue_.take(Purpose::collectives, rank, deadline);
  await(-1);
  return socket;
}

std::optional<std::string> Watch::known_result(std::uint32_t sequence) const {
  const std::lock_guard lock(mutex_);
  if (!brought_result_ || brought_result_->sequence != sequence) return std::nullopt;
  return brought_result_->text;
}

void Watch::lead() {
  order([](Orders& orders) { orders.lead = true; });
}

void Watch::end_with_fewer() {
  order([](Orders& orders) { orders.end_with_fewer = true; });
  std::this_thread::sleep_for(settings_.timeout + stuck_watch_patience);
  ::_exit(static_cast<int>(ExitStatus::run_failed));
}

NewParent Watch::new_parent(int number) {
  order([&](Orders& orders) { orders.lost_parent = number; });
  // A whole host of ranks that could have followed the root may be gone with it.
  const auto patience = attachment_patience + (goes_on_without_root_ ? 2 * new_root_patience : 0s);
  std::unique_lock lock(mutex_);
  const bool has_come = new_parent_came_.wait_for(lock, patience, [&] { return new_parent_.number > number; });
  return has_come ? std::exchange(new_parent_, {}) : NewParent{};
}

bool Watch::has_new_parent(int number) const {
  const std::lock_guard lock(mutex_);
  return new_parent_.number > number && new_parent_.rank >= 0 && new_parent_.rank != settings_.rank;
}

void Watch::give_new_parent(int rank, Descriptor socket) {
  const std::lock_guard lock(mutex_);
  new_parent_ = {++num_attachments_, rank, std::move(socket)};
  new_parent_came_.notify_all();
}

/// False where the new root has something to hear before. Rank 0 knows all results.
bool Watch::hand_over_attachment() {
  const std::lock_guard lock(mutex_);
  static const LastResult none;
  const LastResult& last = last_result_ ? *last_result_ : none;
  if (attachment_->to() != 0 && attachment_->told() != last.sequence) {
    attachment_->tell(last);
    return false;
  }
  new_parent_ = {++num_attachments_, attachment_->to(), attachment_->take_collectives()};
  new_parent_came_.notify_all();
  return true;
}

bool Watch::is_connected_to(int rank) const {
  return std::ranges::any_of(edges_, [&](const WatchEdge& edge) { return edge.rank() == rank && !edge.is_lost; });
}

/// The connection to a neighbour in the tree has ended, or nothing comes over it any more.
void Watch::lose(WatchEdge& edge, Failure failure) {
  if (!goes_on_ || failure_) return note(with_own_network(std::move(failure)), &edge);
  collective_sockets_.shut(edge.rank());
  if (edge.rank() == parent_rank_) {
    begin_attachment(std::move(failure));
  } else if (lost_.contains(edge.rank())) {
    edge.has_left = true;
  } else {
    suspect(edge.rank(), failure, suspect_patience);
  }
}

void Watch::suspect(int rank, const Failure& failure, Clock::duration patience) {
  const auto [entry, is_new] = suspects_.try_emplace(rank, Suspect{failure, now_ + patience});
  if (std::exchange(entry->second.is_guess, false)) entry->second.failure = failure;
  if (is_top()) {
    if (is_new) probe(rank, entry->second);
    return;
  }
  tell_suspect(rank, failure);
}

Failure Watch::absence_of(int rank) const {
  if (const AbsentHost* const absent = bootstrap_.absent_host(rank)) return host_absent(rank, *absent);
  return rank_absent(rank, settings_.address_of(rank).text(), seconds(settings_.start_timeout));
}

void Watch::tell_suspect(int rank, const Failure& failure) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(rank));
  tell_parent(WatchEdge::Message::suspect, bytes + packed(failure));
}

void Watch::take_suspect(const WatchEdge& from, std::string_view bytes) {
  Reader reader(bytes);
  const auto rank = static_cast<int>(reader.number<std::uint32_t>());
  const auto failure = unpacked(reader.rest());
  if (!failure || rank < 1 || rank >= settings_.size || rank == root_) return;
  // It may have come to the root before the news that its parent has lost it. Of itself it says that it leaves.
  if (is_top() && (lost_.contains(rank) || (rank != from.rank() && is_connected_to(rank)))) return;
  suspect(rank, *failure, suspect_patience);
}

void Watch::probe(int rank, Suspect& suspect) {
  const Hello hello{Purpose::probe, static_cast<std::uint32_t>(settings_.rank), static_cast<std::uint32_t>(rank)};
  try {
    suspect.probe.emplace(settings_.address_of(rank), hello, key_);
  } catch (const Error&) {
    return;  // no descriptor left: it takes longer then
  }
}

/// At a new top: nobody may have told of a rank that does not come.
void Watch::suspect_awaited() {
  int awaited = -1;
  {
    const std::lock_guard lock(mutex_);
    awaited = awaited_orphan_;
  }
  if (awaited >= 0) suspect_unheard(awaited);
}

void Watch::suspect_unheard(int rank) {
  const bool is_known = lost_.contains(rank) || suspects_.contains(rank);
  if (rank == settings_.rank || is_known || is_connected_to(rank)) return;
  suspect(rank, rank_unreached(name_of(rank), name_of(parent_of(rank)), current_step_of(rank)), new_root_patience);
  suspects_.at(rank).is_guess = true;
}

void Watch::settle_suspects() {
  if (!is_top() || failure_) return;
  if (settings_.rank != 0) suspect_awaited();
  for (auto& [rank, suspect] : suspects_) {
    if (!suspect.probe) continue;
    suspect.probe->advance();
    if (!suspect.probe->is_over()) continue;
    if (suspect.probe->state() == Call::State::failed && suspect.probe->was_connected()) {
      probe(rank, suspect);  // it may be about to end
      continue;
    }
    suspect.has_ended = suspect.probe->was_refused();
    const bool lives = suspect.probe->state() == Call::State::answered;
    if (lives && suspect.failure.kind == FailureKind::died) {
      suspect.failure = connection_lost(own_name(), name_of(rank), current_step_of(rank), ECONNRESET);
    }
    if (suspect.has_ended && suspect.is_guess) suspect.failure = rank_died(name_of(rank), current_step_of(rank));
    if (suspect.has_ended) suspect.give_up_at = std::min(suspect.give_up_at, now_ + refused_patience);
    // It may be waiting for a rank between the two, and come when it has waited long enough.
    if (hosts_ == nullptr && lives) suspect.give_up_at = now_ + settings_.start_timeout;
    suspect.probe.reset();
  }
  const auto due = std::ranges::find_if(suspects_, [&](const auto& one) { return now_ > one.second.give_up_at; });
  if (due == suspects_.end()) return;
  const int rank = due->first;
  const Failure failure = due->second.failure;
  const bool has_ended = due->second.has_ended || is_stopped_here(failure.silent_process);
  suspects_.erase(due);
  if (end_if_packets_get_lost()) return;
  if (failure.kind == FailureKind::silent && !leaves_ && has_lost_all_hosts()) return note(failure, nullptr);
  give_up(rank, {failure, has_ended, leads_});
}

/// At the top. Those below the lost one connect to this rank, if they live.
void Watch::give_up(int rank, Loss loss) {
  {
    const std::lock_guard lock(mutex_);
    lost_ranks_.push_back(lost_rank(rank, loss));
  }
  if (hosts_ != nullptr) tell_losses();
  forget(rank, loss, leads_ ? WatchEdge::Message::lost : WatchEdge::Message::unreached);
  for (const int child : children_of(rank, settings_.size)) {
    if (lost_.contains(child) || is_connected_to(child) || child == settings_.rank) continue;
    const Failure gone =
        hosts_ == nullptr ? absence_of(child) : rank_unreached(name_of(child), name_of(rank), current_step_of(child));
    suspect(child, gone, settings_.rank == 0 ? attachment_patience + suspect_patience : new_root_patience);
  }
}

LostRank Watch::lost_rank(int rank, const Loss& loss) const {
  const Error& error = loss.failure.error;
  const std::string why = error.problem() + (error.why().empty() ? "" : " (" + error.why() + ")");
  return {rank, why, hosts_ != nullptr, loss.has_ended};
}

/// The root. Before the run begins it may turn out that it cannot.
void Watch::tell_losses() {
  if (!leads_ || (leaves_ && has_lost_all_hosts())) return;
  const std::lock_guard lock(mutex_);
  if (goes_on_without_root_ && !may_lead(lost_ranks_, settings_.size, Leads::already)) return;
  for (; num_told_ < std::min(lost_ranks_.size(), num_losses_told); ++num_told_) {
    const LostRank& lost = lost_ranks_[num_told_];
    write_line(line_of(fmt::format("{}. The run goes on without rank {}", lost.why, lost.rank)));
  }
}

/// Nothing is expected of a lost rank any more. One that is stopped is ended when the run is over: some launchers end
/// all ranks when one dies.
void Watch::forget(int rank, const Loss& loss, WatchEdge::Message message) {
  lost_.emplace(rank, loss);
  if (rank == root_) root_ = rank_after(rank);
  connection_queue_.give_up(rank);
  suspects_.erase(rank);
  orphans_.remove_if([&](const Orphan& orphan) { return orphan.rank() == rank; });
  const std::string bytes = packed_loss(rank, loss);
  for (WatchEdge& edge : edges_) {
    const bool is_to_hear = edge.rank() != rank || message == WatchEdge::Message::lost;
    if (&edge != parent() && is_to_hear) edge.send(message, bytes);
    if (edge.rank() == rank) edge.is_lost = edge.has_left = true;
  }
  collective_sockets_.shut(rank);
  data_sockets_.shut(rank);
  last_loss_ = loss.failure;
  last_loss_at_ = now_;
  const ProcessIdentity& process = loss.failure.silent_process;
  if (process.pid != 0) lost_processes_.push_back(process);
}

std::string Watch::packed_loss(int rank, const Loss& loss) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(rank));
  append(bytes, static_cast<std::uint8_t>(loss.has_ended ? 1 : 0));
  return bytes + packed(loss.failure);
}

void Watch::take_lost(WatchEdge::Message message, std::string_view bytes) {
  Reader reader(bytes);
  const auto rank = static_cast<int>(reader.number<std::uint32_t>());
  const bool has_ended = reader.number<std::uint8_t>() != 0;
  const auto failure = unpacked(reader.rest());
  if (!failure || rank < 0 || rank >= settings_.size || lost_.contains(rank)) return;
  if (rank == settings_.rank && leaves_) return;  // nobody answers its last collective any more
  if (rank == settings_.rank) leave_as_lost(fmt::format("{} did not hear it", name_of(root_)));
  if (!is_top()) forget(rank, {*failure, has_ended, message == WatchEdge::Message::lost}, message);
}

/// The others go on without this rank; after its own absence they have said why.
void Watch::leave_as_lost(const std::string& why, const char* look_at) {
  if (loses_packets()) {
    const Failure own_network = own_network_loses(own_name(), current_step_of(settings_.rank));
    write_line(line_of(own_network.error.what()));
    tell_suspect(settings_.rank, own_network);
  } else if (!was_given_up()) {
    write_line(line_of(fmt::format("{} was left out of the run ({}). Look at {}", own_name(), why, look_at)));
  }
  ::_exit(static_cast<int>(ExitStatus::run_failed));
}

/// Whether packets get lost on connections to other hosts that are heard, and there is none on which they do not.
bool Watch::note_losses() {
  if (hosts_ == nullptr) return false;
  bool has_lossy = false, has_lossless = false;
  for (WatchEdge& edge : edges_) {
    const std::uint32_t host = hosts_->host_of[static_cast<std::size_t>(edge.rank())];
    const WatchEdge::Losses losses = edge.losses(now_, settings_.timeout);
    if (losses == WatchEdge::Losses::many) lossy_hosts_[host] = now_;
    const bool is_heard = !edge.is_lost && !edge.end() && now_ - edge.heard() < 3 * interval_;
    if (losses == WatchEdge::Losses::none && is_heard) lossless_hosts_[host] = now_;
    if (edge.host == settings_.host || edge.is_lost || edge.end()) continue;
    const bool has_long_pauses = num_resent_in_vain(edge.fd()) >= num_resends_of_many;
    has_lossy = has_lossy || losses == WatchEdge::Losses::many || has_long_pauses;
    has_lossless = has_lossless || (losses == WatchEdge::Losses::none && is_heard);
  }
  return has_lossy && !has_lossless;
}

/// Where messages get through now and then no rank is lost, and all wait for those of the one whose network it is. When
/// that has lasted it tries new connections to several hosts: the losses may be over, or be those of the only host to
/// which it is connected.
void Watch::look_at_own_network() {
  const bool loses = note_losses() && goes_on_ && !failure_;
  if (!loses) losing_since_.reset();
  if (loses && !losing_since_) losing_since_ = now_;
  if (!losing_since_ || now_ - *losing_since_ <= settings_.timeout || !network_probes_.empty()) return;
  losing_since_ = network_probed_at_ = now_;
  call(ranks_on_other_hosts(), network_probes_);
}

/// Where these lose packets, too, this rank leaves.
void Watch::serve_network_probes() {
  for (Probe& probe : network_probes_) probe.call.advance();
  if (network_probes_.empty() || now_ - network_probed_at_ <= probe_patience) return;
  for (const Probe& probe : network_probes_) note_losses(probe);
  network_probes_.clear();
  if (losing_since_ && !failure_) end_if_packets_get_lost();
}

/// One on each of a few.
std::vector<std::int32_t> Watch::ranks_on_other_hosts() const {
  const auto host_of = [&](int rank) { return hosts_->host_of[static_cast<std::size_t>(rank)]; };
  std::set<std::uint32_t> hosts{host_of(settings_.rank)};
  std::vector<std::int32_t> ranks;
  for (int rank = 0; rank < settings_.size && ranks.size() < num_relays_tried; ++rank) {
    if (!lost_.contains(rank) && hosts.insert(host_of(rank)).second) ranks.push_back(rank);
  }
  return ranks;
}

void Watch::note_losses(const Probe& probe) {
  if (hosts_ == nullptr) return;
  const std::uint32_t host = hosts_->host_of[static_cast<std::size_t>(probe.rank)];
  if (num_resent(probe.call.fd()) > 0) {
    lossy_hosts_[host] = now_;
  } else if (probe.call.state() == Call::State::answered) {
    lossless_hosts_[host] = now_;
  }
}

void Watch::note_losses(const Attachment& attachment) {
  if (hosts_ == nullptr) return;
  const auto host_of = [&](int rank) { return hosts_->host_of[static_cast<std::size_t>(rank)]; };
  for (const int rank : attachment.lossy()) lossy_hosts_[host_of(rank)] = now_;
  for (const int rank : attachment.lossless()) lossless_hosts_[host_of(rank)] = now_;
}

/// Where packets get lost on the way to several hosts and to none they do not, it is this one's network.
bool Watch::loses_packets() const {
  if (hosts_ == nullptr) return false;
  const std::uint32_t own_host = hosts_->host_of[static_cast<std::size_t>(settings_.rank)];
  const auto num_since = [&](const auto& hosts, Clock::duration age) {
    return std::ranges::count_if(hosts,
                                 [&](const auto& host) { return host.first != own_host && now_ - host.second <= age; });
  };
  return num_since(lossy_hosts_, settings_.timeout + attachment_patience) > 1 &&
         num_since(lossless_hosts_, attachment_patience) == 0;
}

/// That one's is the reason of what this rank has lost.
Failure Watch::with_own_network(Failure failure) const {
  return loses_packets() ? own_network_loses(own_name(), current_step_of(settings_.rank)) : std::move(failure);
}

/// A rank with such a network leaves, and the others go on without it. If it is the root, and they cannot, all end;
/// with too many others on its own host it stays.
bool Watch::end_if_packets_get_lost() {
  if (leaves_ || !loses_packets()) return false;
  const std::uint32_t own_host = hosts_->host_of[static_cast<std::size_t>(settings_.rank)];
  const bool are_most_here = 2 * std::ranges::count(hosts_->host_of, own_host) >= settings_.size - std::ssize(lost_);
  if (is_top() && goes_on_without_root_ && are_most_here) return false;
  if (!is_top() || goes_on_without_root_) leave_as_lost({});
  note(own_network_loses(own_name(), current_step_of(settings_.rank)), nullptr);
  return true;
}

/// At the top. What came later may have come of it. Where no other host is left it is rather this one's network.
void Watch::end_with_first_loss() {
  const std::uint32_t own_host = hosts_->host_of[static_cast<std::size_t>(settings_.rank)];
  int num_elsewhere = 0, num_lost_elsewhere = 0;
  for (int rank = 0; rank < settings_.size; ++rank) {
    if (hosts_->host_of[static_cast<std::size_t>(rank)] == own_host) continue;
    ++num_elsewhere;
    if (lost_.contains(rank)) ++num_lost_elsewhere;
  }
  if (num_elsewhere > 0 && num_lost_elsewhere == num_elsewhere) {
    return note(own_network_down(own_name(), current_step_of(settings_.rank), seconds(settings_.timeout)), nullptr);
  }
  std::optional<int> first;
  {
    const std::lock_guard lock(mutex_);
    const auto lost = std::ranges::find(lost_ranks_, false, &LostRank::has_ended);
    if (lost != lost_ranks_.end()) first = lost->rank;
  }
  if (first) note(with_own_network(lost_.at(*first).failure), nullptr);
}

std::vector<Attachment::Route> Watch::routes_to(int to) const {
  std::vector<Attachment::Route> routes{{-1, settings_.address_of(to)}};
  std::set<std::uint32_t> hosts_tried;
  const auto host_of = [&](int rank) { return hosts_->host_of[static_cast<std::size_t>(rank)]; };
  if (hosts_ == nullptr) return routes;
  hosts_tried.insert(host_of(settings_.rank));
  hosts_tried.insert(host_of(to));
  for (int rank = 1; rank < settings_.size && routes.size() <= num_relays_tried; ++rank) {
    if (lost_.contains(rank) || !hosts_tried.insert(host_of(rank)).second) continue;
    routes.push_back({rank, settings_.address_of(rank)});
  }
  return routes;
}

void Watch::begin_attachment(Failure because) {
  if (attachment_) return;
  for (WatchEdge& edge : edges_) {
    if (&edge == parent()) edge.is_lost = true;
  }
  last_loss_ = because;
  last_loss_at_ = now_;
  attached_because_ = std::move(because);
  attach_to(root_);
}

void Watch::attach_to(int rank) {
  attach_again_at_ = now_;
  // A root that turns this rank away may be about to end, and another take its part.
  const bool may_be_replaced = rank != root_ || goes_on_without_root_;
  attach_until_ = now_ + (may_be_replaced ? new_root_patience : turned_away_patience);
  // The root was silent for longer before.
  const bool is_silent = rank == root_ && attached_because_->kind == FailureKind::silent;
  const Clock::duration answer_patience =
      is_silent ? probe_patience : std::clamp<Clock::duration>(settings_.timeout, probe_patience, answer_patience_max);
  attachment_.emplace(settings_.rank, rank, key_, routes_to(rank), answer_patience, now_);
}

void Watch::serve_attachment() {
  if (!attachment_ || failure_ || now_ < attach_again_at_) return;
  attachment_->serve(now_);
  note_losses(*attachment_);
  if (attachment_->has_failed()) return end_attachment();
  if (!attachment_->is_made() || !hand_over_attachment()) return;
  root_ = parent_rank_ = attachment_->to();
  edges_.remove_if([this](const WatchEdge& edge) { return edge.rank() == root_; });
  adopt(WatchEdge(root_, attachment_->take_watch(), now_));
  attachment_.reset();
  passed_over_.clear();
  for (const auto& [rank, suspect] : suspects_) tell_suspect(rank, suspect.failure);
}

/// The root may be gone, or this rank may be cut off.
void Watch::end_attachment() {
  const Attachment failed = *std::exchange(attachment_, {});
  if (leaves_) return leave_unattached();
  if (failed.was_turned_away() && now_ <= attach_until_) {
    const auto until = attach_until_;
    attach_to(failed.to());
    attach_again_at_ = now_ + attachment_interval;
    attach_until_ = until;
    return;
  }
  // The measuring thread may have noticed that a connection broke before this one has read its end.
  const bool is_end = failed.was_refused() && failed.to() == parent_rank_ && hosts_ != nullptr;
  if (is_end && attached_because_->kind == FailureKind::lost_connection) {
    attached_because_ = rank_died(name_of(parent_rank_), current_step_of(parent_rank_));
  }
  const bool is_cut_off = attached_because_->kind == FailureKind::silent && has_lost_all_hosts();
  if (end_if_packets_get_lost()) return;
  if (!goes_on_without_root_ || is_cut_off) return end_unattached();
  if (failed.was_turned_away()) {  // it goes on without this rank, or has not lost the root itself
    const std::string who = name_of(failed.to());
    const bool is_root = failed.to() == root_;
    leave_as_lost(is_root ? who + " goes on without it" : fmt::format("{} goes on with {}", who, name_of(root_)));
  }
  pass_over(failed);
}

/// The root has left, or is lost: all was measured and written before. One that is stopped is ended, as others are.
void Watch::leave_unattached() {
  if (attached_because_->silent_process.pid != 0) lost_processes_.push_back(attached_because_->silent_process);
  give_new_parent(-1, {});
}

void Watch::end_unattached() {
  if (parent_rank_ != root_ && hosts_ != nullptr) {
    const auto host_of = [&](int rank) { return hosts_->host_of[static_cast<std::size_t>(rank)]; };
    const std::set<std::uint32_t> hosts{host_of(settings_.rank), host_of(parent_rank_), host_of(root_)};
    if (hosts.size() == 3) leave_as_lost("it reaches none of the hosts that it needs", "this host's network");
    leave_as_lost(fmt::format("it reaches neither {} nor {}", name_of(parent_rank_), name_of(root_)));
  }
  note(*attached_because_, nullptr);
}

/// Whoever is the next, others find, too. From a host that does not answer nobody is. With too many that may be
/// elsewhere this rank cannot go on: see may_lead().
void Watch::pass_over(const Attachment& failed) {
  const auto host_of = [&](int rank) { return hosts_->host_of[static_cast<std::size_t>(rank)]; };
  int next = failed.to();
  do {
    const std::string name = name_of(next), step = current_step_of(next);
    Failure failure = rank_unreached(name, name_of(root_), step);
    if (next == parent_rank_) failure = *attached_because_;
    if (failed.was_refused()) failure = rank_died(name, step);
    const bool has_ended = failed.was_refused() || is_stopped_here(failure.silent_process);
    passed_over_.insert_or_assign(next, Loss{std::move(failure), has_ended});
    next = rank_after(next);
  } while (next != settings_.rank && !failed.was_refused() && host_of(next) == host_of(failed.to()) &&
           host_of(next) != host_of(settings_.rank));
  const auto is_elsewhere = [](const auto& passed_over) { return !passed_over.second.has_ended; };
  const auto num_elsewhere = std::ranges::count_if(passed_over_, is_elsewhere);
  if (settings_.size - std::ssize(lost_) - std::ssize(passed_over_) <= num_elsewhere) return end_unattached();
  if (next == settings_.rank) return begin_to_lead();
  attach_to(next);
}

/// At the top, for now: those that were passed over are told that they are lost once it is known that this rank leads;
/// those below wait for them no longer.
void Watch::begin_to_lead() {
  root_ = settings_.rank;
  parent_rank_ = -1;
  leads_ = false;
  {
    const std::lock_guard lock(mutex_);
    for (const bool is_told : {true, false}) {
      for (const auto& [rank, loss] : lost_) {
        if (loss.is_told == is_told) lost_ranks_.push_back(lost_rank(rank, loss));
      }
      if (is_told) num_told_ = lost_ranks_.size();
    }
    for (const auto& [rank, loss] : passed_over_) lost_ranks_.push_back(lost_rank(rank, loss));
  }
  for (const auto& [rank, loss] : passed_over_) forget(rank, loss, WatchEdge::Message::unreached);
  for (const auto& [rank, loss] : lost_) {
    for (const int child : children_of(rank, settings_.size)) suspect_unheard(child);
  }
  give_new_parent(settings_.rank, {});
}

/// The lowest above that one that is not lost.
int Watch::rank_after(int rank) const {
  do ++rank;
  while (lost_.contains(rank));
  return rank;
}

Attachment::Attachment(int rank, int to, RunKey key, std::vector<Route> routes, Clock::duration answer_patience,
                       Clock::time_point now)
    : rank_(rank), to_(to), key_(std::move(key)), routes_(std::move(routes)), answer_patience_(answer_patience) {
  try_next_route(now);
}

void Attachment::note_losses() {
  if (!call_) return;
  const int relay = next_route_ > 0 ? routes_[next_route_ - 1].relay : -1;
  if (relay >= 0 && !is_to_relay_) return;
  const int called = is_to_relay_ ? relay : to_;
  if (num_resent(call_->fd()) > 0) {
    lossy_.insert(called);
  } else if (call_->state() == Call::State::answered) {
    lossless_.insert(called);
  }
}

void Attachment::try_next_route(Clock::time_point now) {
  note_losses();
  if (call_ && next_route_ == 1) {
    was_turned_away_ = call_->state() == Call::State::failed && call_->was_connected();
    was_refused_ = call_->was_refused();
  }
  call_.reset();
  watch_ = {};
  collectives_ = {};
  to_tell_.clear();
  told_.reset();
  begun_at_ = now;
  if (next_route_++ < routes_.size()) start(Purpose::watch);
}

/// One connection after the other, each through the relay, if there is one.
void Attachment::start(Purpose purpose) {
  const Route& route = routes_[next_route_ - 1];
  is_to_relay_ = route.relay >= 0;
  const Hello hello{is_to_relay_ ? Purpose::relay : purpose, static_cast<std::uint32_t>(rank_),
                    static_cast<std::uint32_t>(is_to_relay_ ? route.relay : to_)};
  call_.emplace(route.address, hello, key_);
}

void Attachment::serve(Clock::time_point now) {
  if (is_made() || has_failed()) return;
  if (collectives_) tell_on();
  if (is_made()) return;
  const Purpose purpose = watch_ ? Purpose::collectives : Purpose::watch;
  const Call::State state = call_->advance();
  if (state == Call::State::failed || is_too_late(now)) return try_next_route(now);
  if (state != Call::State::answered || collectives_) return;
  note_losses();
  if (is_to_relay_) {
    is_to_relay_ = false;
    const Hello hello{purpose, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(to_)};
    call_.emplace(call_->take(), hello, key_);
    return;
  }
  (purpose == Purpose::watch ? watch_ : collectives_) = call_->take();
  if (!is_made()) start(Purpose::collectives);
}

bool Attachment::is_too_late(Clock::time_point now) const {
  const bool is_direct = routes_[next_route_ - 1].relay < 0;
  return now - begun_at_ > (is_direct && call_->was_connected() ? answer_patience_ : probe_patience);
}

void Attachment::tell(const LastResult& last) {
  const auto header = Frame{Operation::last_result, last.sequence}.header(last.text.size());
  to_tell_.assign(header.begin(), header.end());
  to_tell_ += last.text;
  told_ = last.sequence;
  tell_on();
}

/// A connection that has broken meanwhile is noticed by those who get it.
void Attachment::tell_on() {
  while (!to_tell_.empty()) {
    const ssize_t sent = ::send(collectives_.fd(), to_tell_.data(), to_tell_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    to_tell_.erase(0, sent < 0 ? std::string::npos : static_cast<std::size_t>(sent));
  }
}

void Watch::note(Failure failure, const WatchEdge* heard_from) {
  if (failure_ && failure.kind <= failure_->kind) return;
  const bool is_first = !failure_;
  if (is_first) failing_since_ = now_;
  failure_ = std::move(failure);
  probe_silent_rank();
  const std::string bytes = packed(*failure_);
  for (WatchEdge& edge : edges_) {
    // One that this rank has lost may go on without it.
    if (&edge != heard_from && !edge.is_lost) edge.send(WatchEdge::Message::failure, bytes);
  }
  if (is_first) tell_partial_result();
}

void Watch::tell_partial_result() {
  std::function<std::string()> partial_result;
  {
    const std::lock_guard lock(mutex_);
    partial_result = partial_result_;
  }
  if (!partial_result) return;
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(settings_.rank));
  take_partial_result(bytes + partial_result());
}

void Watch::take_partial_result(std::string_view bytes) {
  Reader reader(bytes);
  const auto rank = static_cast<int>(reader.number<std::uint32_t>());
  partial_results_[rank] = reader.rest();
  tell_parent(WatchEdge::Message::partial, std::string(bytes));
}

/// That of a rank that is gone does not come.
bool Watch::awaits_partial_results() const {
  // A launcher may end all ranks as soon as one has died.
  if (failure_->kind == FailureKind::died && bootstrap_.membership() == nullptr) return false;
  const bool is_one_gone = failure_->kind == FailureKind::died || failure_->kind == FailureKind::silent;
  const std::size_t num_there = static_cast<std::size_t>(settings_.size) - lost_.size() - (is_one_gone ? 1 : 0);
  return !partial_results_.empty() && partial_results_.size() < num_there &&
         now_ - failing_since_ <= partial_result_patience;
}

/// To rank 0, where the rank between is gone.
void Watch::bring_partial_results() {
  if (partial_results_.empty() || parent_rank_ <= 0) return;
  const WatchEdge* const above = parent();
  if (above != nullptr && !above->is_lost) return;
  if (!call_to_root_) {
    const Hello hello{Purpose::watch, static_cast<std::uint32_t>(settings_.rank), 0};
    try {
      call_to_root_.emplace(settings_.address_of(0), hello, key_);
    } catch (const Error&) {
      return;  // no descriptor left
    }
  }
  const Call::State state = call_to_root_->advance();
  if (state == Call::State::failed) call_to_root_.reset();  // rank 0 may not know yet that the run fails
  if (state != Call::State::answered) return;
  parent_rank_ = 0;
  adopt(WatchEdge(0, call_to_root_->take(), now_));
  for (const auto& [rank, text] : partial_results_) {
    std::string bytes;
    append(bytes, static_cast<std::uint32_t>(rank));
    tell_parent(WatchEdge::Message::partial, bytes + text);
  }
}

std::string Watch::greeting() const {
  std::string text;
  append(text, ProcessIdentity::own());
  append_text(text, settings_.host);
  return text;
}

std::string Watch::own_name() const { return fmt::format("rank {} on {}", settings_.rank, settings_.host); }

std::string Watch::name_of(int rank) const {
  const bool is_there = rank >= 0 && rank < settings_.size;  // it may be what another rank said
  if (hosts_ != nullptr && is_there) return fmt::format("rank {} on {}", rank, hosts_->name_of(rank));
  for (const WatchEdge& edge : edges_) {
    if (edge.rank() == rank) return edge.who();
  }
  return fmt::format("rank {}", rank);
}

std::string Watch::common_step_of(int rank) const {
  std::function<std::string(int)> current_step;
  {
    const std::lock_guard lock(mutex_);
    current_step = current_step_;
  }
  return current_step ? current_step(rank) : std::string();
}

std::string Watch::current_step_of(int rank) const {
  std::string text = common_step_of(rank);
  if (rank == settings_.rank) {
    const CurrentFileCall& file_call = stall_detector_.progress_counter.file_call;
    const std::string call = own_stall_ ? file_call.text(0ns) : file_call.text();
    return text + (text.empty() || call.empty() ? "" : ", ") + call;
  }
  for (const WatchEdge& edge : edges_) {
    // What a rank says of itself in the same step has its file call, too.
    if (edge.rank() == rank && edge.current_step.starts_with(text)) return edge.current_step;
  }
  return text;
}

void Watch::learn_hosts(const HostBook& hosts) {
  order([&](Orders& orders) { orders.hosts = &hosts; });
}

void Watch::abort(Failure failure, int lost_partner) {
  if (thread_.joinable()) {
    order([&](Orders& orders) {
      orders.failure = failure;
      orders.lost_partner = lost_partner;
    });
    std::this_thread::sleep_for(settings_.timeout + stuck_watch_patience);
  }
  // After leave() nobody else can say it; before, the watch has ended the process unless it is itself stuck.
  write_line(line_of(failure.error.what()));
  ::_exit(static_cast<int>(failure.error.status()));
}

void Watch::await_end(const BrokenEdge& broken) {
  order([&](Orders& orders) { orders.broken = broken; });
  std::this_thread::sleep_for(settings_.timeout + stuck_watch_patience);
  ::_exit(static_cast<int>(ExitStatus::run_failed));
}

const WatchEdge* Watch::parent() const {
  const WatchEdge* last = nullptr;
  for (const WatchEdge& edge : edges_) {
    if (edge.rank() == parent_rank_) last = &edge;
  }
  return last;
}

bool Watch::reports() const {
  if (is_top() || edges_.empty()) return true;  // connected to nobody: who else could say it
  const WatchEdge* above = parent();
  return settings_.rank == rank_after(root_) && (above == nullptr || (above->is_lost && !above->has_reported));
}

void Watch::consider_the_end() {
  const auto time = now_ - failing_since_;
  if (reports()) {
    // Evidence that comes from others: whether they reach the silent rank, and who waits for whom.
    const bool needs_others = failure_->silent_rank >= 0 || failure_->kind <= FailureKind::lost_connection;
    const bool is_explained = !reached_by_.empty() || failure_->kind == FailureKind::died || is_stuck_in_file_call();
    const Clock::duration patience = needs_others && settings_.size > 2 ? grace + probe_patience : grace;
    if (!is_explained && time <= patience) return;
    if (awaits_partial_results()) return;
    explain();
    report();
    return;
  }
  const WatchEdge* above = parent();
  const bool is_orphan = above == nullptr || above->is_lost || above->has_left;
  const bool is_told = above != nullptr && above->has_reported;
  if (is_told || parent_ended_after_failure_ || time > (is_orphan ? stay_of_orphan : stay_max)) end();
}

/// A rank, for longer than it should.
bool Watch::is_one_in_file_call() const {
  const auto cause = first_cause(stalls_);
  return cause && cause->is_in_file_call;
}

bool Watch::is_stuck_in_file_call() const { return failure_->kind == FailureKind::stuck && is_one_in_file_call(); }

/// When several hosts fall silent at once, it is this one.
bool Watch::has_lost_all_hosts() const {
  int num_lost = 0;
  for (const WatchEdge& edge : edges_) {
    if (edge.host == settings_.host || edge.has_left) continue;
    if (!edge.is_lost && now_ - edge.heard() < settings_.timeout) return false;
    if (edge.end() == 0) return false;  // its process has ended: that came through the network
    ++num_lost;
  }
  return num_lost > 1;
}

/// Two ranks that do not reach each other are the cause of silence in the tree, and of what others wait for.
void Watch::explain() {
  if (failure_->kind == FailureKind::signalled) {
    // From a launcher that ends all ranks when one has died.
    if (!suspects_.empty()) last_loss_ = suspects_.begin()->second.failure;
    const bool is_recent = !suspects_.empty() || failing_since_ - last_loss_at_ < launcher_patience;
    if (last_loss_ && is_recent) failure_ = *last_loss_;
    return;
  }
  const bool is_of_network = failure_->kind == FailureKind::lost_connection || failure_->kind >= FailureKind::silent;
  if (is_of_network && loses_packets()) {
    failure_ = with_own_network(*failure_);
    return;
  }
  if (failure_->kind == FailureKind::silent && !reached_by_.empty()) {
    const ProcessIdentity process = failure_->silent_process;
    failure_ = ranks_cut_off(name_of(failure_->heard_by), name_of(failure_->silent_rank),
                             current_step_of(failure_->heard_by), reached_by_ + " reaches both");
    failure_->silent_process = process;
    return;
  }
  if (failure_->kind == FailureKind::silent && has_lost_all_hosts()) {
    failure_ = own_network_down(own_name(), current_step_of(settings_.rank), seconds(settings_.timeout));
    return;
  }
  const bool is_here =
      hosts_ != nullptr && hosts_->host_of[0] == hosts_->host_of[static_cast<std::size_t>(settings_.rank)];
  if (failure_->kind == FailureKind::silent && settings_.rank != 0 && failure_->silent_rank == 0 && !is_here) {
    failure_ = root_unheard(own_name(), name_of(0), current_step_of(settings_.rank), seconds(settings_.timeout),
                            failure_->silent_process);
    return;
  }
  if (failure_->kind > FailureKind::lost_connection) return;
  const auto cause = first_cause(stalls_);
  if (!cause) return;
  const double lasts_s = cause->lasts_s + seconds(now_ - cause->taken_at);
  if (cause->is_cut_off) {
    failure_ = ranks_cut_off(name_of(cause->rank), name_of(cause->partner), cause->step, cause->why);
  } else if (failure_->kind == FailureKind::stuck && cause->is_in_file_call) {
    failure_ = file_call_stuck(name_of(cause->rank), cause->step, lasts_s, num_others_in_file_calls(*cause));
  } else if (failure_->kind == FailureKind::stuck) {
    failure_ = rank_stuck(name_of(cause->rank), name_of(cause->partner), cause->step, lasts_s);
  }
}

/// After an absence that was longer than the others' patience they have said why the run ends, and gone.
bool Watch::was_given_up() const { return back_since_ != Clock::time_point{} && now_ - back_since_ < time_to_notice; }

/// Does the work, and something else where it has not come back in time.
void Watch::within(Clock::duration patience, const std::function<void()>& work,
                   const std::function<void()>& too_late) const {
  const auto is_over = std::make_shared<std::atomic<bool>>(false);
  std::thread([patience, too_late, is_over] {
    std::this_thread::sleep_for(patience);
    if (!is_over->exchange(true)) too_late();
  }).detach();
  work();
  if (is_over->exchange(true)) std::this_thread::sleep_for(patience);
}

void Watch::report() {
  const std::string message = failure_->error.what();
  const std::string line = line_of(failure_->error.what());
  const int status = static_cast<int>(failure_->error.status());
  if (was_given_up()) ::_exit(status);
  std::function<void(const std::string&, const PartialResults&)> on_failure;
  {
    const std::lock_guard lock(mutex_);
    on_failure = on_failure_;
  }
  if (!bootstrap_.reporting()) end();
  const auto mark = [&] {
    try {
      on_failure(message, partial_results_);
    } catch (const std::exception&) {
      // The reason of the run's end is worth more than that of a file which could not be marked.
    }
  };
  const bool may_stay = is_one_in_file_call();
  const auto end_without = [this, line, status, may_stay] {
    write_line(line);
    if (may_stay) bootstrap_.ends_but_for_the_kernel();
    ::_exit(status);
  };
  const Clock::duration patience = is_stuck_in_file_call() ? on_failure_patience_of_stuck : on_failure_patience;
  if (on_failure) within(patience, mark, end_without);
  write_line(line);
  if (may_stay) bootstrap_.ends_but_for_the_kernel();
  end();
}

/// One that is stopped cannot leave by itself, and some launchers wait for it: whoever is on its host ends it, and the
/// one that reports tells the launcher where nobody is.
void Watch::end() {
  const bool is_said = reports() || parent() == nullptr || parent()->has_reported;
  for (WatchEdge& edge : edges_) {
    if (is_said) edge.send(WatchEdge::Message::reported);
  }
  const int status = static_cast<int>(failure_->error.status());
  const ProcessIdentity& silent = failure_->silent_process;
  if (silent.pid != 0 && !end_if_stopped_here(silent) && reports()) {
    within(
        end_all_patience, [&] { bootstrap_.end_all(); }, [status] { ::_exit(status); });
  }
  ::_exit(status);
}

}  // namespace leadline::cluster
