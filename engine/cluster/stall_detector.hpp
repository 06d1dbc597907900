// SPDX-License-Identifier: Apache-2.0
// For how long the measuring thread of this rank has achieved nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "core/progress_counter.hpp"

namespace leadline::cluster {

/// Read by the watch thread; `is_waiting` is written by the measuring thread around its collectives, in which a
/// rank may wait as long as the others need.
struct StallDetector {
  using Clock = std::chrono::steady_clock;

  ProgressCounter progress_counter;
  std::atomic<bool> is_waiting{false};

  /// How long nothing was achieved, if that is longer than allowed: `patience` inside a transport, where only a
  /// partner can help; much longer elsewhere (a file system that hangs).
  std::optional<Clock::duration> standstill(Clock::time_point now, Clock::duration patience) {
    const auto count = progress_counter.count.load(std::memory_order_relaxed);
    const State state = is_waiting.load(std::memory_order_relaxed)                      ? State::waiting
                        : progress_counter.in_transport.load(std::memory_order_relaxed) ? State::in_transport
                                                                                        : State::elsewhere;
    if (count != count_seen_ || state != state_seen_) {
      count_seen_ = count;
      state_seen_ = state;
      since_ = now;
    }
    if (state == State::waiting) return std::nullopt;
    const Clock::duration allowed = state == State::in_transport ? patience : 10 * patience + std::chrono::minutes(1);
    if (now - since_ <= allowed) return std::nullopt;
    return now - since_;
  }
  void forgive(Clock::duration pause) { since_ += pause; }

 private:
  enum class State { waiting, in_transport, elsewhere };
  std::uint64_t count_seen_ = 0;
  State state_seen_ = State::elsewhere;
  Clock::time_point since_ = Clock::now();
};

}  // namespace leadline::cluster
