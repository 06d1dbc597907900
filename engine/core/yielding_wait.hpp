// SPDX-License-Identifier: Apache-2.0
// How a wait that yields its core waits when it lasts long.
#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

namespace leadline {

/// One wait. After so many looks in vain (0.2 s and more) a partner is stopped or lost, and the core belongs to others.
class YieldingWait {
 public:
  /// After a look in vain: yields, or sleeps where the wait has lasted long.
  void pause() {
    if (++num_in_vain_ < num_yields) [[likely]] {
      sched_yield();
    } else {
      std::this_thread::sleep_for(sleep);
    }
  }

  /// Something moved: it counts from here on.
  void restart() { num_in_vain_ = 0; }

 private:
#ifdef LEADLINE_SANITIZE
  // Each look takes long there, and no time that is measured means anything.
  static constexpr unsigned num_yields = 2'000;
#else
  static constexpr unsigned num_yields = 200'000;
#endif
  static constexpr std::chrono::microseconds sleep{100};  // of a message that took 0.2 s, a two-thousandth

  unsigned num_in_vain_ = 0;
};

}  // namespace leadline
