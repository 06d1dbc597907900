// SPDX-License-Identifier: Apache-2.0
// All ranks begin at one moment, whatever their clocks say.
#include "bench/io/common_start.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "core/clock.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::io {
namespace {

TEST(CommonStart, TheTightestBarrierSaysHowFarClocksAreApart) {
  // True times: the root enters at 100, 300, the other at 150, 290; both are let go at 160, 305.
  const std::array<BarrierReadings, 2> of_root{{{100, 160}, {300, 305}}};
  for (const std::int64_t ahead : {std::int64_t{0}, std::int64_t{1'000'000}, std::int64_t{-90}}) {
    const auto on_other = [&](std::uint64_t time) { return time + static_cast<std::uint64_t>(ahead); };
    const std::array<BarrierReadings, 2> own{{{on_other(150), on_other(160)}, {on_other(290), on_other(305)}}};
    // -10 <= ahead <= 60 by the first, -15 <= ahead <= 5 by the second: -10 to 5 together.
    const ClockOffset offset = clock_offset(own, of_root);
    EXPECT_EQ(offset.ahead_ns, ahead - 10 + 7);
    EXPECT_EQ(offset.error_ns, 7u);
  }
}

TEST(CommonStart, NoRankOfAHostBeginsBeforeTheMomentThatAllHave) {
  const std::vector<std::uint32_t> host_of{0, 0, 0, 1};
  std::mutex mutex;
  std::vector<std::uint64_t> starts;
  std::uint64_t start_of_other_host = 0;
  test::run_on_threads(host_of, [&](test::ThreadCluster& cluster) {
    const CommonStart start = await_common_start(cluster);
    const std::uint64_t start_ns = start.at_ns;
    EXPECT_GE(now_ns(), start_ns);
    const std::lock_guard lock(mutex);
    if (cluster.rank() < 3) {
      starts.push_back(start_ns);
      EXPECT_EQ(start.error_ns, 0u);
    } else {
      start_of_other_host = start_ns;
    }
  });
  EXPECT_THAT(starts, testing::Each(starts.front()));
  // It compares a clock that is the same one: wrong by the duration of a barrier at most.
  const std::uint64_t apart_ns =
      std::max(start_of_other_host, starts.front()) - std::min(start_of_other_host, starts.front());
  EXPECT_LT(apart_ns, 1'000'000'000u);
}

}  // namespace
}  // namespace leadline::bench::io
