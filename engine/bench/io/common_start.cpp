// SPDX-License-Identifier: Apache-2.0
// A few barriers to compare clocks, then a moment far enough away that all have heard of it.
#include "bench/io/common_start.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <limits>

#include "bench/reductions.hpp"
#include "core/clock.hpp"

namespace leadline::bench::io {
namespace {

constexpr std::size_t num_barriers = 4;
// A broadcast takes about half as long as a barrier. Ranks that take turns on a core may hear of it later.
constexpr std::uint64_t lead_in_barriers = 2, least_lead_ns = 100'000, most_lead_ns = 20'000'000;

struct Chosen {
  std::array<BarrierReadings, num_barriers> of_root;
  std::uint64_t start_ns = 0;  ///< by the root's clock
};

/// The first barrier takes as long as the ranks wait for each other.
std::uint64_t lead_ns(std::span<const BarrierReadings> barriers) {
  std::uint64_t fastest_ns = most_lead_ns;
  for (const BarrierReadings& one : barriers.subspan(1)) {
    fastest_ns = std::min(fastest_ns, one.exit_ns - one.enter_ns);
  }
  return std::clamp(lead_in_barriers * fastest_ns, least_lead_ns, most_lead_ns);
}

void sleep_until(std::uint64_t moment_ns) {
  constexpr std::uint64_t ns_a_s = 1'000'000'000;
  timespec moment;
  moment.tv_sec = static_cast<time_t>(moment_ns / ns_a_s);
  moment.tv_nsec = static_cast<long>(moment_ns % ns_a_s);
  while (now_ns() < moment_ns) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
}

}  // namespace

ClockOffset clock_offset(std::span<const BarrierReadings> own, std::span<const BarrierReadings> of_root) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < own.size(); ++i) {
    least = std::max(least, static_cast<std::int64_t>(own[i].enter_ns - of_root[i].exit_ns));
    most = std::min(most, static_cast<std::int64_t>(own[i].exit_ns - of_root[i].enter_ns));
  }
  const std::int64_t half = (most - least) / 2;
  return {least + half, static_cast<std::uint64_t>(std::abs(half))};
}

CommonStart await_common_start(cluster::Cluster& cluster) {
  CommonStart start;
  cluster::repeat_for_new_root(cluster, [&](int root) {
    Chosen chosen;
    std::array<BarrierReadings, num_barriers> own;
    for (BarrierReadings& one : own) {
      one.enter_ns = now_ns();
      cluster.barrier();
      one.exit_ns = now_ns();
    }
    chosen.of_root = own;
    chosen.start_ns = own.back().exit_ns + lead_ns(own);
    chosen = value_of_root(cluster, chosen);
    const auto host_of = [&](int rank) { return cluster.host_of()[static_cast<std::size_t>(rank)]; };
    const bool is_same_clock = host_of(cluster.rank()) == host_of(root);
    const ClockOffset offset = is_same_clock ? ClockOffset{} : clock_offset(own, chosen.of_root);
    start = {chosen.start_ns + static_cast<std::uint64_t>(offset.ahead_ns), offset.error_ns};
  });
  sleep_until(start.at_ns);
  return start;
}

}  // namespace leadline::bench::io
