// SPDX-License-Identifier: Apache-2.0
// A moment by which a wait must have ended; every wait in Leadline takes one.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

namespace leadline {

/// A duration for messages.
inline double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// What a wait calls every millisecond, for libraries whose progress other ranks wait for; empty = nothing.
using ProgressFunction = std::function<void()>;

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(std::chrono::nanoseconds wait) { return Deadline(Clock::now() + wait); }

  bool has_passed() const { return Clock::now() >= at_; }

  /// At least 0 and at most `cap`.
  std::chrono::nanoseconds left(std::chrono::nanoseconds cap) const {
    return std::clamp<std::chrono::nanoseconds>(at_ - Clock::now(), std::chrono::nanoseconds::zero(), cap);
  }

  /// Milliseconds left, rounded up, at least 0 and at most `cap`: the timeout argument of poll(2).
  int left_ms(int cap = never_ms) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, cap));
  }

  /// The same for a wait that calls such a function.
  int left_ms(const ProgressFunction& progress) const { return left_ms(progress ? 1 : never_ms); }

 private:
  static constexpr int never_ms = 1'000'000'000;

  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace leadline
