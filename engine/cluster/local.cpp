// SPDX-License-Identifier: Apache-2.0
// Starting the ranks of a local run, and waiting for them.
#include "cluster/local.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cluster/address.hpp"
#include "cluster/connection.hpp"
#include "cluster/keyed_hash.hpp"
#include "cluster/signals.hpp"
#include "core/control_group.hpp"
#include "core/error.hpp"
#include "core/terminal.hpp"

namespace leadline::cluster {
namespace {

/// A mark in memory that the launcher and all ranks share: which rank says why the run failed, and which one leads it
/// where it goes on without ranks that die.
class ReporterMark {
 public:
  ReporterMark() {
    void* page = ::mmap(nullptr, sizeof *shared_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
      throw Error(ExitStatus::run_failed, "cannot share memory with the ranks", system_error_text(errno));
    }
    shared_ = new (page) Shared;
  }

  ~ReporterMark() { ::munmap(shared_, sizeof *shared_); }
  ReporterMark(const ReporterMark&) = delete;
  ReporterMark& operator=(const ReporterMark&) = delete;

  void going_on(int root) { shared_->root.store(root); }
  /// The rank whose status is that of the run, where it goes on when another one dies.
  std::optional<int> root() const { return rank_or_nobody(shared_->root); }
  /// False where another has said it already.
  bool set_if_nobody(int rank) {
    int nobody = -1;
    return shared_->rank.compare_exchange_strong(nobody, rank);
  }
  std::optional<int> rank() const { return rank_or_nobody(shared_->rank); }
  /// That rank is through with it.
  void set_said() { shared_->is_said.store(true); }
  bool is_said() const { return shared_->is_said.load(); }

 private:
  static std::optional<int> rank_or_nobody(const std::atomic<int>& mark) {
    const int rank = mark.load();
    return rank >= 0 ? std::optional(rank) : std::nullopt;
  }

  struct Shared {
    std::atomic<int> rank{-1};
    std::atomic<int> root{-1};
    std::atomic<bool> is_said{false};
  };
  Shared* shared_;
};

class LocalBootstrap final : public Bootstrap, private Membership {
 public:
  /// The mark outlives the bootstrap.
  LocalBootstrap(int rank, std::vector<std::uint16_t> ports, Descriptor listener, std::string secret,
                 ReporterMark& mark)
      : rank_(rank),
        ports_(std::move(ports)),
        listener_(std::move(listener)),
        secret_(std::move(secret)),
        mark_(mark) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ports_.size()); }
  std::string launcher() const override { return "local"; }
  Membership* membership() override { return this; }
  bool reporting() override { return mark_.set_if_nobody(rank_); }
  void ends_but_for_the_kernel() override { mark_.set_said(); }
  void going_on_without_lost_ranks() override { mark_.going_on(rank_); }

 private:
  Descriptor take_listener() override { return std::move(listener_); }
  Endpoint endpoint_of(int rank) const override { return {"127.0.0.1", ports_[static_cast<std::size_t>(rank)]}; }
  std::string_view secret() const override { return secret_; }

  int rank_;
  std::vector<std::uint16_t> ports_;
  Descriptor listener_;
  std::string secret_;
  ReporterMark& mark_;
};

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// After one rank has failed the others know within a heartbeat, report and go; a few seconds more is for a
// file system that takes its time. Whoever is still there then is killed.
constexpr auto patience_after_failure = 7s;
constexpr auto patience_after_report = 300ms;
// A killed process is gone at once, unless it has very much memory, or one of its threads is in a call of the kernel
// that no signal ends.
constexpr auto patience_after_kill = 2s, patience_with_kernel = 1s;

struct Child {
  pid_t pid = 0;
  std::optional<int> status;  ///< as waitpid gives it; nothing while it runs
  bool was_stopped = false;   ///< and is then killed by another rank, which says why

  bool failed() const { return status && *status != 0; }
  bool exited() const { return status && WIFEXITED(*status); }
};

std::vector<Descriptor> open_listeners(int num_ranks) {
  allow_descriptors(num_ranks);
  std::vector<Descriptor> listeners;
  for (int rank = 0; rank < num_ranks; ++rank) listeners.push_back(listen_on(*SocketAddress::parse("127.0.0.1", 0)));
  return listeners;
}

/// The signals that the waiting process takes one by one; put back at the end.
class HeldSignals {
 public:
  HeldSignals() : held_(ending_signals()) {
    ::sigaddset(&held_, SIGCHLD);
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;  // where SIGCHLD is ignored, children cannot be waited for
    ::sigaction(SIGCHLD, &usual, &child_before_);
    ::sigprocmask(SIG_BLOCK, &held_, &mask_before_);
  }
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  void release() {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  /// 0 where nothing came in time.
  int next(std::chrono::milliseconds wait) const {
    const timespec time{wait.count() / 1000, static_cast<long>(wait.count() % 1000) * 1'000'000};
    return std::max(0, ::sigtimedwait(&held_, nullptr, &time));
  }

 private:
  sigset_t held_, mask_before_{};
  struct sigaction child_before_ {};
};

/// What rank_main lets escape is said here, since nothing above it is left in a child.
int run_rank(std::unique_ptr<LocalBootstrap> bootstrap, ReporterMark& mark,
             const std::function<int(std::unique_ptr<Bootstrap>)>& rank_main) {
  const int rank = bootstrap->rank();
  std::string problem;
  int status = static_cast<int>(ExitStatus::run_failed);
  try {
    return rank_main(std::move(bootstrap));
  } catch (const Error& error) {
    problem = error.what();
    status = static_cast<int>(error.status());
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (mark.set_if_nobody(rank)) fmt::print(stderr, "{}leadline: {}\n", over_progress(), problem);
  return status;
}

class Run {
 public:
  ~Run() {
    if (!is_ending_) kill_all();
  }

  void start(int num_ranks, HeldSignals& signals, const std::function<int(std::unique_ptr<Bootstrap>)>& rank_main);
  int wait(const HeldSignals& signals);

 private:
  void send_all(int signal_number) {
    for (const Child& child : children_) {
      if (!child.status) ::kill(child.pid, signal_number);
    }
  }
  void kill_all();
  bool are_left_in_kernel() const;
  void look_at(Child& child, int options);
  void name_those_left() const;
  bool is_over() const {
    return std::all_of(children_.begin(), children_.end(), [](const Child& child) { return child.status; });
  }
  /// Whether a rank that is stopped keeps the run from its end: no other rank looks after it any more.
  bool is_stopped_behind_root() const {
    return root().exited() &&
           std::ranges::any_of(children_, [](const Child& child) { return child.was_stopped && !child.status; });
  }
  const Child& root() const { return children_[static_cast<std::size_t>(mark_.root().value_or(0))]; }
  int first_status() const { return first_failed_ ? *children_[*first_failed_].status : 0; }
  int outcome() const;

  ReporterMark mark_;
  std::vector<Child> children_;
  std::optional<std::size_t> first_failed_;
  bool is_told_to_stop_ = false;
  bool is_ending_ = false;  ///< those that are left are killed from here
  std::uint64_t out_of_memory_kills_before_ = out_of_memory_kills();
};

void Run::start(int num_ranks, HeldSignals& signals, const std::function<int(std::unique_ptr<Bootstrap>)>& rank_main) {
  std::vector<Descriptor> listeners = open_listeners(num_ranks);
  std::vector<std::uint16_t> ports;
  for (const Descriptor& one : listeners) ports.push_back(SocketAddress::of_socket(one.fd()).port());
  std::string secret = random_bytes(32);
  std::fflush(nullptr);  // or every child prints what is still in the buffers
  const pid_t launcher = ::getpid();
  for (int rank = 0; rank < num_ranks; ++rank) {
    const pid_t pid = ::fork();
    if (pid < 0) {
      throw Error(ExitStatus::run_failed, fmt::format("cannot start {} processes", num_ranks), system_error_text(errno),
                  "Choose fewer with --local");
    }
    if (pid > 0) {
      children_.push_back({pid, {}});
      continue;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::ofstream("/proc/self/oom_score_adj") << 500;  // where memory runs out, the launcher is left to say so
    if (::getppid() != launcher) ::_exit(static_cast<int>(ExitStatus::run_failed));  // it died before the prctl
    children_.clear();
    signals.release();
    Descriptor own = std::move(listeners[static_cast<std::size_t>(rank)]);
    listeners.clear();
    const int status =
        run_rank(std::make_unique<LocalBootstrap>(rank, std::move(ports), std::move(own), std::move(secret), mark_),
                 mark_, rank_main);
    std::fflush(nullptr);
    ::_exit(status);
  }
}

void Run::look_at(Child& child, int options) {
  int status = 0;
  if (child.status || ::waitpid(child.pid, &status, options) != child.pid) return;
  child.was_stopped = WIFSTOPPED(status) || (child.was_stopped && !WIFCONTINUED(status));
  if (WIFSTOPPED(status) || WIFCONTINUED(status)) return;
  child.status = status;
  // Of several that are found ended at once, one that was killed is the cause; the others gave up.
  const bool is_cause = WIFSIGNALED(status) && !child.was_stopped && !is_ending_ && !WIFSIGNALED(first_status());
  if (status != 0 && (!first_failed_ || is_cause)) first_failed_ = static_cast<std::size_t>(&child - children_.data());
}

void Run::kill_all() {
  is_ending_ = true;
  send_all(SIGKILL);
  const Clock::time_point begin = Clock::now();
  for (;;) {
    for (Child& child : children_) look_at(child, WNOHANG);
    const auto time = Clock::now() - begin;
    if (is_over() || time > patience_after_kill || (time > patience_with_kernel && are_left_in_kernel())) return;
    std::this_thread::sleep_for(10ms);
  }
}

/// The function of the kernel in which a thread of this process sleeps so that no signal wakes it, empty where the
/// kernel does not tell; nothing where no thread does.
std::optional<std::string> place_in_kernel(pid_t pid) {
  std::error_code ended;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", pid), ended);
  for (; !ended && thread != std::filesystem::directory_iterator(); thread.increment(ended)) {
    std::string state, place;
    std::ifstream(thread->path() / "stat") >> state >> state >> state;
    std::ifstream wchan(thread->path() / "wchan");
    std::getline(wchan, place);
    if (state == "D") return place == "0" ? std::string() : place;
  }
  return std::nullopt;
}

bool Run::are_left_in_kernel() const {
  return std::ranges::all_of(children_, [](const Child& child) { return child.status || place_in_kernel(child.pid); });
}

void Run::name_those_left() const {
  for (std::size_t rank = 0; rank < children_.size(); ++rank) {
    if (children_[rank].status) continue;
    const std::string place = place_in_kernel(children_[rank].pid).value_or("");
    fmt::print(
        stderr,
        "{}leadline: rank {} (process {}) was killed and is still there (inside the kernel{}). It ends when that "
        "call returns: look at the file system that it uses\n",
        over_progress(), rank, children_[rank].pid, place.empty() ? "" : ", " + place);
  }
}

int Run::wait(const HeldSignals& signals) {
  std::optional<Clock::time_point> give_up_at;
  while (!is_over()) {
    const int signal_number = signals.next(give_up_at ? 100ms : 1000ms);
    if (signal_number != 0 && signal_number != SIGCHLD) {
      is_told_to_stop_ = true;
      send_all(signal_number);
    }
    for (Child& child : children_) look_at(child, WNOHANG | WUNTRACED | WCONTINUED);
    // Where the root is killed, another takes its part, or says why not.
    const bool is_over_soon = first_failed_ && (!mark_.root() || root().exited());
    // One that has said why the run failed may itself be unable to end.
    const bool is_failing = is_over_soon || is_told_to_stop_ || mark_.rank() || is_stopped_behind_root();
    if (is_failing && !give_up_at) give_up_at = Clock::now() + patience_after_failure;
    // The others stay only for the sake of the one that reports, or because they are stopped. A killed one has closed
    // its connections, which others then report, a moment before its end is seen here.
    const bool is_reported =
        mark_.rank() && (mark_.is_said() || children_[static_cast<std::size_t>(*mark_.rank())].status);
    if (is_reported && give_up_at) give_up_at = std::min(*give_up_at, Clock::now() + patience_after_report);
    if (!give_up_at || Clock::now() <= *give_up_at) continue;
    kill_all();
    if (is_over()) break;
    name_those_left();
    const int status = outcome();
    return status != 0 ? status : static_cast<int>(ExitStatus::run_failed);
  }
  return outcome();
}

int Run::outcome() const {
  if (!first_failed_) return 0;
  const bool root_ended_itself = root().exited() && (root().failed() || mark_.root());
  const Child& failed = children_[*first_failed_];
  const int status = *failed.status;
  // By which signal a rank died is known only here, also where another has said that it is gone.
  const bool was_killed = WIFSIGNALED(status) && !failed.was_stopped && !is_told_to_stop_;
  if (was_killed || (!mark_.rank() && !root_ended_itself)) {
    const std::string how =
        WIFSIGNALED(status) ? fmt::format("killed by signal {}, {}", WTERMSIG(status), ::sigdescr_np(WTERMSIG(status)))
                            : fmt::format("exit status {}", WEXITSTATUS(status));
    const bool is_out_of_memory = out_of_memory_kills() > out_of_memory_kills_before_;
    fmt::print(stderr, "{}leadline: rank {} died ({}). {}\n", over_progress(), *first_failed_, how,
               is_out_of_memory ? "The memory that this job may use (its control group) ran out: choose fewer ranks or "
                                  "smaller messages, or give the job more"
                                : "Look at the system log");
  }
  return root_ended_itself ? WEXITSTATUS(*root().status) : static_cast<int>(ExitStatus::run_failed);
}

}  // namespace

int launch_local(int num_ranks, const std::function<int(std::unique_ptr<Bootstrap>)>& rank_main) {
  HeldSignals signals;
  Run run;
  run.start(num_ranks, signals, rank_main);
  return run.wait(signals);
}

}  // namespace leadline::cluster
