// SPDX-License-Identifier: Apache-2.0
// Forks the ranks of a host, and relays between them and the launcher; and a rank's end of that.
#include "cluster/host_agent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "cluster/bytes.hpp"
#include "cluster/host_frames.hpp"
#include "cluster/variables.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr const char* host_connection_variable = "LEADLINE_HOSTS_FD";

// For ranks to keep what they have in their files, when nobody wants to hear of them any more.
constexpr auto patience_after_launcher = std::chrono::seconds(3);

struct AgentPipe {
  Descriptor from, to;
};

AgentPipe agent_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ExitStatus::run_failed, "cannot make a pipe", system_error_text(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// A rank, seen from the agent.
struct RankOnHost {
  std::uint32_t rank = 0;
  pid_t pid = 0;
  Descriptor connection, out, err;
  std::string unread;
  bool has_ended = false;
};

class HostAgent {
 public:
  HostAgent(Descriptor from_launcher, Descriptor to_launcher)
      : from_launcher_(std::move(from_launcher)), to_launcher_(std::move(to_launcher)) {}

  /// Returns in the ranks, with their arguments.
  std::vector<std::string> run(const std::string& version);

 private:
  std::optional<std::vector<std::string>> start_ranks(const HostStart& start, const std::string& packed_start);
  [[noreturn]] void relay();
  void take_from_launcher();
  void take_from(RankOnHost& rank, short events_of_connection, short events_of_out, short events_of_err);
  void pass_text(RankOnHost& rank, Descriptor& from, HostFrameKind kind);
  void look_for_ended();
  void send_all(int signal_number) const;
  void tell(HostFrameKind kind, std::uint32_t rank, std::string text) {
    if (!write_whole(to_launcher_.fd(), packed(HostFrame{kind, rank, std::move(text)}))) lose_launcher();
  }
  void lose_launcher();
  [[noreturn]] void refuse(const std::string& why) {
    tell(HostFrameKind::refused, 0, why);
    ::_exit(static_cast<int>(ExitStatus::something_missing));
  }

  Descriptor from_launcher_, to_launcher_;
  std::string unread_;
  std::vector<RankOnHost> ranks_;
  std::optional<Deadline> kill_at_;  ///< the launcher has gone
};

std::vector<std::string> HostAgent::run(const std::string& version) {
  if (!write_whole(to_launcher_.fd(), fmt::format("\n{}{}\n", hosts_marker, version))) ::_exit(1);
  const auto frame = await_frame(from_launcher_.fd(), unread_, nullptr);
  if (!frame) {
    throw Error(ExitStatus::run_failed, "nothing came on standard input", "",
                "The command of --launch has to pass its standard input on");
  }
  const auto start = frame->kind == HostFrameKind::start ? unpacked_host_start(frame->text) : std::nullopt;
  if (!start) refuse("what the launcher sends cannot be read");
  if (::chdir(start->folder.c_str()) != 0) {
    refuse(fmt::format("the working folder {} cannot be entered there: {}", start->folder, system_error_text(errno)));
  }
  for (const std::string& variable : start->environment) {
    const std::size_t at = variable.find('=');
    if (at != std::string::npos) ::setenv(variable.substr(0, at).c_str(), variable.c_str() + at + 1, 1);
  }
  if (auto arguments = start_ranks(*start, frame->text)) return *std::move(arguments);
  relay();
}

/// In a rank its arguments, nothing in the agent.
std::optional<std::vector<std::string>> HostAgent::start_ranks(const HostStart& start,
                                                               const std::string& packed_start) {
  const pid_t agent = ::getpid();
  for (std::uint32_t index = 0; index < start.ranks_per_host; ++index) try {
      std::array<int, 2> ends{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw Error(ExitStatus::run_failed, "cannot make a connection", system_error_text(errno));
      }
      Descriptor own(ends[0]), of_rank(ends[1]);
      AgentPipe out = agent_pipe(), err = agent_pipe();
      const std::uint32_t rank = start.first_rank + index;
      const pid_t pid = ::fork();
      if (pid < 0) throw Error(ExitStatus::run_failed, "cannot start a process", system_error_text(errno));
      if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != agent) ::_exit(static_cast<int>(ExitStatus::run_failed));
        ::dup2(out.to.fd(), STDOUT_FILENO);
        ::dup2(err.to.fd(), STDERR_FILENO);
        ranks_.clear();
        from_launcher_ = Descriptor();
        to_launcher_ = Descriptor();
        static Descriptor connection;  // open as long as the process
        connection = std::move(of_rank);
        ::setenv(host_connection_variable, std::to_string(connection.fd()).c_str(), 1);
        ::setenv(host_rank_variable, std::to_string(rank).c_str(), 1);
        return start.arguments;
      }
      write_whole(own.fd(), packed(HostFrame{HostFrameKind::start, rank, packed_start}));
      ranks_.push_back({rank, pid, std::move(own), std::move(out.from), std::move(err.from), {}});
    } catch (const Error& error) {
      refuse(error.what());
    }
  return std::nullopt;
}

void HostAgent::send_all(int signal_number) const {
  for (const RankOnHost& one : ranks_) {
    if (!one.has_ended) ::kill(one.pid, signal_number);
  }
}

void HostAgent::lose_launcher() {
  if (kill_at_) return;
  kill_at_ = Deadline::after(patience_after_launcher);
  send_all(SIGTERM);
}

void HostAgent::take_from_launcher() {
  if (!read_more(from_launcher_.fd(), unread_)) return lose_launcher();
  while (auto frame = take_frame(unread_)) {
    if (frame->kind == HostFrameKind::signal) send_all(static_cast<int>(frame->rank));
    if (frame->kind != HostFrameKind::gathered) continue;
    const std::string bytes = packed(*frame);
    for (const RankOnHost& one : ranks_) {
      if (one.connection) write_whole(one.connection.fd(), bytes);
    }
  }
}

void HostAgent::pass_text(RankOnHost& rank, Descriptor& from, HostFrameKind kind) {
  std::string text;
  if (!read_more(from.fd(), text)) from = Descriptor();
  if (!text.empty()) tell(kind, rank.rank, std::move(text));
}

void HostAgent::take_from(RankOnHost& rank, short events_of_connection, short events_of_out, short events_of_err) {
  if (events_of_connection != 0) {
    if (!read_more(rank.connection.fd(), rank.unread)) rank.connection = Descriptor();
    while (auto frame = take_frame(rank.unread)) tell(frame->kind, rank.rank, std::move(frame->text));
  }
  if (events_of_out != 0) pass_text(rank, rank.out, HostFrameKind::out);
  if (events_of_err != 0) pass_text(rank, rank.err, HostFrameKind::err);
}

/// What a rank has said is told before its end.
void HostAgent::look_for_ended() {
  for (RankOnHost& one : ranks_) {
    int status = 0;
    if (one.has_ended || ::waitpid(one.pid, &status, WNOHANG) != one.pid) continue;
    one.has_ended = true;
    std::array<pollfd, 3> polled{pollfd{one.connection.fd(), POLLIN, 0}, pollfd{one.out.fd(), POLLIN, 0},
                                 pollfd{one.err.fd(), POLLIN, 0}};
    while (::poll(polled.data(), polled.size(), 0) > 0) {
      take_from(one, polled[0].revents, polled[1].revents, polled[2].revents);
      polled[0].fd = one.connection.fd();
      polled[1].fd = one.out.fd();
      polled[2].fd = one.err.fd();
    }
    for (Descriptor* const from : {&one.connection, &one.out, &one.err}) *from = Descriptor();
    std::string text;
    append(text, static_cast<std::uint32_t>(status));
    tell(HostFrameKind::ended, one.rank, std::move(text));
  }
}

void HostAgent::relay() {
  sigset_t child_ends, before;
  ::sigemptyset(&child_ends);
  ::sigaddset(&child_ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child_ends, &before);
  const Descriptor signals(::signalfd(-1, &child_ends, SFD_NONBLOCK | SFD_CLOEXEC));
  while (look_for_ended(), std::ranges::any_of(ranks_, [](const RankOnHost& one) { return !one.has_ended; })) {
    std::vector<pollfd> polled{{kill_at_ ? -1 : from_launcher_.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    for (const RankOnHost& one : ranks_) {
      for (const Descriptor* const from : {&one.connection, &one.out, &one.err}) {
        polled.push_back({from->fd(), POLLIN, 0});
      }
    }
    ::poll(polled.data(), polled.size(), kill_at_ ? kill_at_->left_ms(1000) : -1);
    if (kill_at_ && kill_at_->has_passed()) send_all(SIGKILL);
    if (polled[0].revents != 0) take_from_launcher();
    if (polled[1].revents != 0) {
      signalfd_siginfo one{};
      while (::read(signals.fd(), &one, sizeof one) > 0) {
      }
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const pollfd* const of_rank = &polled[2 + 3 * i];
      take_from(ranks_[i], of_rank[0].revents, of_rank[1].revents, of_rank[2].revents);
    }
  }
  ::_exit(0);
}

class HostsBootstrap final : public Bootstrap {
 public:
  explicit HostsBootstrap(std::chrono::nanoseconds timeout)
      : timeout_(timeout), fd_(number_of_variable(host_connection_variable, 0, 1 << 20, "Unset it")) {
    const HostFrame frame = next_frame(HostFrameKind::start);
    const auto start = unpacked_host_start(frame.text);
    if (!start) gone("what it sends cannot be read");
    rank_ = static_cast<int>(frame.rank);
    size_ = static_cast<int>(start->size);
    ranks_per_host_ = static_cast<int>(start->ranks_per_host);
    absent_ = start->absent;
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string launcher() const override { return name_of(Launcher::hosts); }
  bool starts_ranks_one_by_one() const override { return true; }
  const AbsentHost* absent_host(int rank) const override {
    const int num_present = size_ - ranks_per_host_ * static_cast<int>(absent_.size());
    return rank < num_present ? nullptr : &absent_.at(static_cast<std::size_t>((rank - num_present) / ranks_per_host_));
  }

  std::string all_gather(const std::string& own) override {
    if (!write_whole(fd_, packed(HostFrame{HostFrameKind::gather, static_cast<std::uint32_t>(rank_), own}))) {
      gone("it has closed the connection");
    }
    HostFrame frame = next_frame(HostFrameKind::gathered);
    frame.text.resize(own.size() * static_cast<std::size_t>(size_));  // nothing comes for those that are absent
    return std::move(frame.text);
  }

  void ends_but_for_the_kernel() override {
    write_whole(fd_, packed(HostFrame{HostFrameKind::reported, static_cast<std::uint32_t>(rank_), {}}));
  }

  void going_on_without_lost_ranks() override {
    write_whole(fd_, packed(HostFrame{HostFrameKind::leads, static_cast<std::uint32_t>(rank_), {}}));
  }

 private:
  [[noreturn]] static void gone(const std::string& why) {
    throw Error(ExitStatus::run_failed, "the ranks cannot tell each other where they listen", why,
                "Look at what the launcher says");
  }
  HostFrame next_frame(HostFrameKind kind) {
    const auto deadline = Deadline::after(timeout_);
    auto frame = await_frame(fd_, unread_, &deadline);
    if (!frame && deadline.has_passed()) gone(fmt::format("not all were heard of within {:.3g} s", seconds(timeout_)));
    if (!frame || frame->kind != kind) gone("the launcher of --hosts is gone");
    return *std::move(frame);
  }

  std::chrono::nanoseconds timeout_;
  int fd_;
  int rank_ = 0, size_ = 0, ranks_per_host_ = 1;
  std::vector<AbsentHost> absent_;
  std::string unread_;
};

}  // namespace

std::vector<std::string> become_rank_on_host(const std::string& version) {
  Descriptor from_launcher(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
      to_launcher(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing.fd(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // nothing but frames goes to the launcher
  std::signal(SIGCHLD, SIG_DFL);         // where it is ignored, ranks cannot be waited for
  return HostAgent(std::move(from_launcher), std::move(to_launcher)).run(version);
}

bool is_rank_on_host() { return std::getenv(host_connection_variable) != nullptr; }

std::unique_ptr<Bootstrap> hosts_bootstrap(std::chrono::nanoseconds timeout) {
  return std::make_unique<HostsBootstrap>(timeout);
}

}  // namespace leadline::cluster
