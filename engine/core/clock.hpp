// SPDX-License-Identifier: Apache-2.0
// The clock that everything is timed with, and how good it is on this machine.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

namespace leadline {

/// Nanoseconds since some fixed moment; only differences within one host mean something.
///
/// CLOCK_MONOTONIC and not CLOCK_MONOTONIC_RAW: RAW became readable without a system call only in Linux 5.3, while
/// many clusters run older kernels, and a system call per reading would be part of short messages. The price is
/// that time synchronisation may stretch an interval, by at most 0.05 %; it never makes the clock jump.
inline std::uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

struct ClockQuality {
  std::string source;        ///< "CLOCK_MONOTONIC (tsc)"; without the part in parentheses where the kernel does not say
  double resolution_ns = 0;  ///< smallest step between two readings, so about what a reading takes at least
  double cost_ns = 0;        ///< mean time that one reading takes
};

/// Local; takes less than a millisecond.
ClockQuality measure_clock();

/// The time of day in UTC, "2031-02-03T04:05:06Z".
std::string utc_now_iso8601();

}  // namespace leadline
