// SPDX-License-Identifier: Apache-2.0
// Measures the clock, and formats the time of day.
#include "core/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace leadline {
namespace {

// Enough readings for a mean; the limit in time is for clocks that need a system call (hpet: about 1 us a reading).
constexpr int num_readings = 2000;
constexpr std::uint64_t longest_ns = 300'000;

std::string source_name() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string kernel_source;
  if (!(file >> kernel_source)) return "CLOCK_MONOTONIC";
  return fmt::format("CLOCK_MONOTONIC ({})", kernel_source);
}

}  // namespace

ClockQuality measure_clock() {
  ClockQuality quality;
  quality.source = source_name();

  const std::uint64_t start = now_ns();
  std::uint64_t previous = start;
  std::uint64_t smallest_step = 0;
  int count = 0;
  for (; count < num_readings && previous - start < longest_ns; ++count) {
    const std::uint64_t now = now_ns();
    const std::uint64_t step = now - previous;
    if (step != 0 && (smallest_step == 0 || step < smallest_step)) smallest_step = step;
    previous = now;
  }
  quality.cost_ns = static_cast<double>(previous - start) / count;

  // A clock so coarse that it stood still all the while: the kernel's word is all there is.
  timespec claimed{};
  clock_getres(CLOCK_MONOTONIC, &claimed);
  const double claimed_ns = static_cast<double>(claimed.tv_sec) * 1e9 + static_cast<double>(claimed.tv_nsec);
  quality.resolution_ns = std::max(static_cast<double>(smallest_step), claimed_ns);
  return quality;
}

std::string utc_now_iso8601() {
  const time_t now = time(nullptr);
  tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace leadline
