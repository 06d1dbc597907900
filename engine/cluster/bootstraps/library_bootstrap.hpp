// SPDX-License-Identifier: Apache-2.0
// What bootstraps over a launcher's library have in common: deadlines for calls that have none, and an early end.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "cluster/bootstrap.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"

namespace leadline::cluster {

/// What `call` returns or throws, or `too_late` thrown after `timeout`. Then the call goes on in a thread that nobody
/// waits for: it must own what it uses, and the library must not be called again.
template <class Call>
auto within(std::chrono::nanoseconds timeout, Call call, const Error& too_late) {
  std::packaged_task<decltype(call())()> task([call = std::move(call)]() mutable {
    sigset_t broken_pipe;  // a server that has gone is an error that the library reports, and not our death
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    return call();
  });
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(timeout) != std::future_status::ready) throw too_late;
  return result.get();
}

/// `Library` has, all static: `protocol`, its name for people; `hint`, how to get a server; the type `Identity` with
/// `rank` and `size`; `start()`, which gives it; `gather(identity, turn, own)` as Bootstrap::all_gather, with another
/// number each time; `end()`; `launcher_under(launcher)`, the launcher's name for people.
template <class Library>
class LibraryBootstrap final : public Bootstrap {
 public:
  LibraryBootstrap(Launcher launcher, std::chrono::nanoseconds timeout)
      : launcher_(launcher), timeout_(timeout), identity_(within(timeout, &Library::start, too_late(timeout))) {}
  LibraryBootstrap(const LibraryBootstrap&) = delete;
  LibraryBootstrap& operator=(const LibraryBootstrap&) = delete;
  ~LibraryBootstrap() override { end_library(); }

  int rank() const override { return identity_.rank; }
  int size() const override { return identity_.size; }
  std::string launcher() const override { return Library::launcher_under(launcher_); }

  std::string all_gather(const std::string& own) override {
    is_usable_ = false;  // unless it comes back
    std::string all = within(
        timeout_, [identity = identity_, turn = num_gathered_++, own] { return Library::gather(identity, turn, own); },
        too_late(timeout_));
    is_usable_ = true;
    return all;
  }

  // Not at the end of the run: a launcher kills those who are still in its library as soon as one rank dies, often
  // before anybody can say which; and the library's threads are gone when measuring begins.
  void joined() override { end_library(); }

 private:
  static Error too_late(std::chrono::nanoseconds timeout) {
    const double timeout_s = seconds(timeout);
    return {ExitStatus::run_failed, fmt::format("the launcher's {} server does not answer", Library::protocol),
            fmt::format("not all ranks were heard of within {:.3g} s", timeout_s),
            "Check that all ranks were started; --start-timeout sets the patience"};
  }

  void end_library() {
    constexpr std::chrono::seconds patience{10};
    if (!is_usable_) return;
    is_usable_ = false;
    try {
      within(patience, &Library::end, too_late(patience));
    } catch (const std::exception&) {
      // It takes too long, and nothing depends on it any more.
    }
  }

  Launcher launcher_;
  std::chrono::nanoseconds timeout_;
  typename Library::Identity identity_;
  int num_gathered_ = 0;
  bool is_usable_ = true;
};

template <class Library>
[[noreturn]] void no_server(const std::string& why) {
  throw Error(ExitStatus::something_missing, fmt::format("the launcher's {} server cannot be used", Library::protocol),
              why, Library::hint);
}

[[noreturn]] inline void cannot_gather(const std::string& why) {
  throw Error(ExitStatus::run_failed, "the ranks cannot tell each other where they listen", why,
              "Look at the launcher's own messages");
}

}  // namespace leadline::cluster
