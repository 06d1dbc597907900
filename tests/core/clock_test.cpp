// SPDX-License-Identifier: Apache-2.0
// The clock goes forward, knows itself, and writes the date as files need it.
#include "core/clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(clock, never_goes_back) {
  std::uint64_t previous = now_ns();
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t now = now_ns();
    ASSERT_GE(now, previous);
    previous = now;
  }
}

TEST(clock, knows_its_source_resolution_and_cost) {
  const ClockQuality quality = measure_clock();
  EXPECT_THAT(quality.source, testing::StartsWith("CLOCK_MONOTONIC"));
  EXPECT_GE(quality.resolution_ns, 1);
  EXPECT_GT(quality.cost_ns, 0);
}

TEST(clock, writes_utc_as_iso_8601) {
  EXPECT_THAT(utc_now_iso8601(),
              testing::MatchesRegex("[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
}

TEST(clock, utc_does_not_follow_the_time_zone) {
  const std::string before = utc_now_iso8601();
  setenv("TZ", "XYZ-13", 1);
  tzset();
  const std::string elsewhere = utc_now_iso8601();
  unsetenv("TZ");
  tzset();
  const std::string after = utc_now_iso8601();
  EXPECT_LE(before, elsewhere);
  EXPECT_LE(elsewhere, after);
}

}  // namespace
}  // namespace leadline
