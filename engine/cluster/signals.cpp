// SPDX-License-Identifier: Apache-2.0
// A handler that writes the signal's number into a pipe.
#include "cluster/signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr int endings[3] = {SIGINT, SIGTERM, SIGHUP};

// A signal handler has no other way to know; set by the one SignalPipe of the process.
std::atomic<int> pipe_fd{-1};
std::atomic<pid_t> polling_thread{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

extern "C" void leadline_write_signal(int signal_number) {
  const int error_number = errno;
  const char byte = static_cast<char>(signal_number);
  (void)!::write(pipe_fd.load(std::memory_order_relaxed), &byte, 1);
  errno = error_number;
}

extern "C" void leadline_write_abort(int signal_number) {
  if (::gettid() == polling_thread.load(std::memory_order_relaxed)) return;
  leadline_write_signal(signal_number);
  for (;;) ::pause();
}

}  // namespace

sigset_t ending_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int one : endings) {
    struct sigaction now {};
    ::sigaction(one, nullptr, &now);
    if (now.sa_handler != SIG_IGN) ::sigaddset(&signals, one);
  }
  return signals;
}

SignalPipe::SignalPipe() : signals_(ending_signals()) {
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) {
    throw Error(ExitStatus::run_failed, "cannot make a pipe for signals", system_error_text(errno));
  }
  read_ = Descriptor(ends[0]);
  write_ = Descriptor(ends[1]);
  pipe_fd.store(ends[1]);
  struct sigaction action {};
  action.sa_handler = leadline_write_signal;
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 3; ++i) {
    if (::sigismember(&signals_, endings[i])) ::sigaction(endings[i], &action, &before_[i]);
  }
  action.sa_handler = leadline_write_abort;
  ::sigaction(SIGABRT, &action, &before_abort_);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);
}

SignalPipe::~SignalPipe() {
  for (int i = 0; i < 3; ++i) {
    if (::sigismember(&signals_, endings[i])) ::sigaction(endings[i], &before_[i], nullptr);
  }
  ::sigaction(SIGABRT, &before_abort_, nullptr);
  polling_thread.store(0);
  pipe_fd.store(-1);
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<int> SignalPipe::next() {
  char byte = 0;
  if (::read(read_.fd(), &byte, 1) != 1) return std::nullopt;
  return byte;
}

void SignalPipe::unblock_here() const {
  polling_thread.store(::gettid());
  ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

}  // namespace leadline::cluster
