// SPDX-License-Identifier: Apache-2.0
// Forks ranks, lets them meet over listeners made before the fork, and collects their failures.
#include "contract/forked_ranks.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "contract/watch.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::contract {
namespace {

/// For one test, after which those of its ranks that are left say in which call they are.
std::chrono::seconds patience() { return 4 * call_limit(); }

[[noreturn]] void fail(const char* what) { throw Error(ExitStatus::run_failed, what, system_error_text(errno)); }

void wait_readable(int fd, Deadline deadline, const ProgressFunction& progress) {
  for (;;) {
    pollfd wanted{fd, POLLIN, 0};
    if (::poll(&wanted, 1, deadline.left_ms(progress)) > 0) return;
    if (progress) progress();
    if (deadline.has_passed()) throw Error(ExitStatus::run_failed, "a rank did not come to the meeting");
  }
}

/// One listening socket per rank, made before anyone is forked.
struct Listener {
  Descriptor socket;
  sockaddr_in address{};
};

Listener open_listener() {
  Listener listener{Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  listener.address.sin_family = AF_INET;
  listener.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const name = reinterpret_cast<sockaddr*>(&listener.address);
  socklen_t length = sizeof listener.address;
  if (::bind(listener.socket.fd(), name, length) != 0 || ::listen(listener.socket.fd(), 64) != 0 ||
      ::getsockname(listener.socket.fd(), name, &length) != 0) {
    fail("cannot listen on loopback");
  }
  return listener;
}

/// The lower rank dials and says who it is; the higher keeps early callers until it wants them.
class ForkedRendezvous final : public cluster::Rendezvous {
 public:
  ForkedRendezvous(int rank, const std::vector<Listener>& listeners) : rank_(rank), listeners_(listeners) {}

  using cluster::Rendezvous::meet;
  Descriptor meet(int partner, Deadline deadline, const ProgressFunction& progress) override {
    Descriptor socket = rank_ < partner ? dial(partner) : accept_from(partner, deadline, progress);
    const int on = 1;
    ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
  }

 private:
  Descriptor dial(int partner) const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in& address = listeners_[static_cast<std::size_t>(partner)].address;
    if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("cannot dial");
    if (::send(socket.fd(), &rank_, sizeof rank_, MSG_NOSIGNAL) != sizeof rank_) fail("cannot say who dials");
    return socket;
  }

  Descriptor accept_from(int partner, Deadline deadline, const ProgressFunction& progress) {
    const int listener = listeners_[static_cast<std::size_t>(rank_)].socket.fd();
    while (early_.find(partner) == early_.end()) {
      wait_readable(listener, deadline, progress);
      Descriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
      int caller = -1;
      if (!socket || ::recv(socket.fd(), &caller, sizeof caller, MSG_WAITALL) != sizeof caller) fail("cannot accept");
      early_.emplace(caller, std::move(socket));
    }
    auto caller = early_.extract(early_.lower_bound(partner));
    return std::move(caller.mapped());
  }

  int rank_;
  const std::vector<Listener>& listeners_;
  std::multimap<int, Descriptor> early_;
};

/// The body on one rank; an exception is a failure of the test.
void run_rank(int rank, const std::vector<Listener>& listeners, const std::function<void(ForkedRank&)>& body) {
  ForkedRendezvous rendezvous(rank, listeners);
  ProgressCounter progress_counter;
  ForkedRank self{rank, static_cast<int>(listeners.size()), rendezvous, progress_counter,
                  std::vector<std::uint32_t>(listeners.size(), 0)};
  try {
    body(self);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "rank " << rank << " ended with: " << error.what();
  }
}

pid_t fork_rank(int rank, const std::vector<Listener>& listeners, const std::function<void(ForkedRank&)>& body) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  run_rank(rank, listeners, body);
  std::fflush(nullptr);
  ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

struct Child {
  int rank = 0;
  pid_t process = 0;
  bool has_ended = false;
};

/// Waits until one more of them has ended, or the deadline; whether it ended badly.
bool await_an_end(std::vector<Child>& children, Deadline deadline) {
  for (;;) {
    for (Child& child : children) {
      int status = 0;
      if (child.has_ended || ::waitpid(child.process, &status, WNOHANG) != child.process) continue;
      child.has_ended = true;
      const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      EXPECT_TRUE(is_good) << "rank " << child.rank << " failed, see above"
                           << (WIFSIGNALED(status)
                                   ? std::string(": it was ended by a signal, ") + ::strsignal(WTERMSIG(status))
                                   : "");
      return !is_good;
    }
    if (deadline.has_passed()) return false;
    std::vector<pollfd> ends;
    std::vector<Descriptor> processes;
    for (const Child& child : children) {
      if (child.has_ended) continue;
      processes.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, child.process, 0)));
      ends.push_back({processes.back().fd(), POLLIN, 0});
    }
    ::poll(ends.data(), ends.size(), deadline.left_ms());
  }
}

bool have_ended(const std::vector<Child>& children) {
  return std::all_of(children.begin(), children.end(), [](const Child& child) { return child.has_ended; });
}

/// Those that are left when one has failed, or the time is over: each first says where it is.
void end_others(std::vector<Child>& children) {
  for (const Child& child : children) {
    if (child.has_ended) continue;
    ADD_FAILURE() << "rank " << child.rank << " is ended by the test: another one has failed, or it has not ended in "
                  << patience().count() << " s";
    ::kill(child.process, say_and_end_signal);
  }
  const auto deadline = Deadline::after(std::chrono::seconds(2));
  while (!have_ended(children) && !deadline.has_passed()) await_an_end(children, deadline);
  for (Child& child : children) {
    if (child.has_ended) continue;
    ::kill(child.process, SIGKILL);
    ::waitpid(child.process, nullptr, 0);
  }
}

}  // namespace

void run_forked(int size, const std::function<void(ForkedRank&)>& body, Caller caller) {
  std::vector<Listener> listeners;
  std::generate_n(std::back_inserter(listeners), size, open_listener);
  std::vector<Child> children;
  for (int rank = caller == Caller::is_rank_0 ? 1 : 0; rank < size; ++rank) {
    children.push_back({rank, fork_rank(rank, listeners, body)});
  }
  auto deadline = Deadline::after(patience());
  if (caller == Caller::is_rank_0) {
    run_rank(0, listeners, body);
    deadline = Deadline::after(patience());
  }
  while (!have_ended(children) && !deadline.has_passed()) {
    // Others may wait for a rank that has failed: they get no more than a moment, in which they may fail by themselves.
    if (await_an_end(children, deadline)) deadline = Deadline::after(std::chrono::seconds(1));
  }
  end_others(children);
}

std::unique_ptr<transport::Transport> ForkedRank::open(const std::string& transport, WaitMode wait) const {
  const auto choice = transport::parse_choice(transport);
  const auto module = transport::open_module(choice.name);
  EXPECT_EQ(module->refuses_wait(wait), "");
  EXPECT_EQ(module->refuses_memory(ranks().allocator().location), "");
  auto opened = module->open({.rank = rank,
                              .size = size,
                              .host_of = host_of,
                              .rendezvous = rendezvous,
                              .wait = wait,
                              .settings = {choice.name, module->settings, choice.argument, {}},
                              .interface = {},
                              .progress_counter = progress_counter});
  return watched(std::move(opened), rank);
}

void ForkedRank::run(const std::string& transport, WaitMode wait, const Body& body) {
  const auto opened = open(transport, wait);
  End end{rank, size, 1 - rank, *opened, progress_counter, [&] { return open(transport, wait); }};
  body(end);
}

void ForkedRanks::run(int size, const std::string& transport, WaitMode wait, const Body& body) {
  run_forked(
      size, [&](ForkedRank& self) { self.run(transport, wait, body); }, Caller::waits);
}

}  // namespace leadline::contract
