// SPDX-License-Identifier: Apache-2.0
// How long the phases of a run take.
#pragma once

#include <cstdint>

#include "core/clock.hpp"

namespace leadline::command {

class Stopwatch {
 public:
  double elapsed_s() const { return 1e-9 * static_cast<double>(now_ns() - start_ns_); }

  /// Time since the last lap, or the start.
  double lap_s() {
    const double elapsed = elapsed_s();
    start_ns_ = now_ns();
    return elapsed;
  }

 private:
  std::uint64_t start_ns_ = now_ns();
};

}  // namespace leadline::command
