// SPDX-License-Identifier: Apache-2.0
// One pause in a wait, by wait mode and by whether a transport wants progress.
#include "cluster/waiter.hpp"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <utility>

namespace leadline::cluster {
namespace {

// Measured with 16 ranks on 2 cores: 0.2 ms a barrier. With 20 yields it is 0.7 ms, since those who only wait take
// the cores from those who have work; with 2 ranks on 2 cores more yields gain nothing.
constexpr int num_yields_before_sleep = 2;
// Guessed: a transport wants progress soon after its last message, or hardly at all, and ranks that wake often take
// the cores from those that measure.
constexpr int sleep_between_progress_ms = 1;
constexpr int sleep_between_progress_max_ms = 8;
constexpr int sleep_ms = 1000;

void sleep_on(int fd, short events, int timeout_ms) {
  pollfd one{fd, events, 0};
  ::poll(&one, 1, timeout_ms);
}

}  // namespace

void Waiter::set(WaitMode mode, std::function<void()> progress) {
  mode_ = mode == WaitMode::automatic ? WaitMode::yield : mode;
  progress_ = std::move(progress);
}

void Waiter::Wait::pause(int fd, short events) {
  const WaitMode mode = waiter_.mode_;
  const bool has_progress = static_cast<bool>(waiter_.progress_);
  if (has_progress) waiter_.progress_();
  if (mode == WaitMode::spin) return;
  const int num_sleeps = num_pauses_++ - (mode == WaitMode::yield ? num_yields_before_sleep : 0);
  if (num_sleeps < 0) {
    ::sched_yield();
    return;
  }
  const int progress_sleep_ms =
      std::min(sleep_between_progress_ms << std::min(num_sleeps, 16), sleep_between_progress_max_ms);
  sleep_on(fd, events, has_progress ? progress_sleep_ms : sleep_ms);
}

}  // namespace leadline::cluster
