// SPDX-License-Identifier: Apache-2.0
// What the compact form rounds, over its whole range and beyond.
#include "model/pair_cell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leadline::test::pair_cell_test {
namespace {

PairRecord record(double median_ns, double p99_ns, std::uint32_t count) {
  return {.count = count,
          .time_ns_min = median_ns / 2,
          .time_ns_median = median_ns,
          .time_ns_mean = median_ns,
          .time_ns_p99 = p99_ns,
          .time_ns_max = p99_ns};
}

PairRecord rounded(double median_ns, double p99_ns, std::uint32_t count) {
  return record_of(pair_cell(record(median_ns, p99_ns, count)));
}

TEST(PairCell, HasMediansWithinHalfAPerMilleFromANanosecondToAThousandSeconds) {
  double worst = 0;
  for (double time_ns = 1; time_ns < 1e12; time_ns *= 1.00013) {
    worst = std::max(worst, std::abs(rounded(time_ns, time_ns, 20).time_ns_median / time_ns - 1));
  }
  EXPECT_LT(worst, 0.0005);
  EXPECT_GT(worst, 0.0003);  // a step is what the documentation says
}

TEST(PairCell, HasRatiosOf99thPercentilesWithinTwoAndAFifthPerCent) {
  for (double ratio = 1; ratio < 60'000; ratio *= 1.003) {
    const PairRecord found = rounded(1e4, 1e4 * ratio, 20);
    EXPECT_NEAR(found.time_ns_p99 / found.time_ns_median / ratio, 1, 0.022) << ratio;
  }
}

TEST(PairCell, HasCountsUpTo31ExactlyAndOthersWithinAThirtySecond) {
  for (std::uint32_t count = 1; count <= 100'000; ++count) {
    const std::uint32_t found = rounded(1e4, 1e4, count).count;
    if (count < 32) {
      EXPECT_EQ(found, count);
    } else {
      EXPECT_NEAR(found / static_cast<double>(count), 1, 1 / 32.0) << count;
    }
  }
  for (const std::uint32_t usual : {20U, 50U, 100U, 200U, 400U}) EXPECT_EQ(rounded(1e4, 1e4, usual).count, usual);
}

TEST(PairCell, OfItsOwnRecordIsTheSame) {
  for (PairCell median = 1; median <= 0xffff; ++median) {
    const PairCell cell = (median << 16U) | ((median & 0xffU) << 8U) | (1 + median % 255);
    EXPECT_EQ(pair_cell(record_of(cell)), cell);
  }
}

TEST(PairCell, HasPowersOfTwoExactly) {
  for (int octave = -9; octave < 54; ++octave) {
    const PairRecord found = rounded(std::exp2(octave), std::exp2(octave + 3), 1);
    EXPECT_EQ(found.time_ns_median, std::exp2(octave));
    EXPECT_EQ(found.time_ns_p99, std::exp2(octave + 3));
  }
}

TEST(PairCell, OfWhatWasNotMeasuredIsAHole) {
  EXPECT_EQ(pair_cell({}), 0U);
  EXPECT_EQ(pair_cell(record(1000, 1000, 0)), 0U);
  EXPECT_EQ(pair_cell(record(0, 0, 20)), 0U);
  EXPECT_EQ(pair_cell(record(std::numeric_limits<double>::quiet_NaN(), 1, 20)), 0U);
  for (const PairCell why : {PairCell{0}, pair_not_in_schedule, pair_link_lost, pair_rank_lost, PairCell{0xffff}}) {
    EXPECT_FALSE(is_measured(why));
    EXPECT_EQ(record_of(why).count, 0U);
    EXPECT_EQ(record_of(why).time_ns_median, 0);
  }
}

TEST(PairCell, BeyondItsRangeHasTheNearest) {
  EXPECT_EQ(pair_cell(record(1e-9, 1e-9, 1)) >> 16U, 1U);
  EXPECT_EQ(pair_cell(record(1e30, 1e30, 1)) >> 16U, 0xffffU);
  EXPECT_EQ(rounded(1000, 1e12, 1).time_ns_p99 / rounded(1000, 1e12, 1).time_ns_median, std::exp2(255 / 16.0));
  EXPECT_EQ(rounded(1000, 1, 1).time_ns_p99, rounded(1000, 1, 1).time_ns_median);
  EXPECT_EQ(rounded(1000, 1000, std::numeric_limits<std::uint32_t>::max()).count, 507'904U);
}

TEST(PairCell, KeepsNoStatisticThatItHasNoRoomFor) {
  const PairRecord found = rounded(1000, 2000, 20);
  EXPECT_EQ(found.time_ns_min, 0);
  EXPECT_EQ(found.time_ns_mean, 0);
  EXPECT_EQ(found.time_ns_max, 0);
}

}  // namespace
}  // namespace leadline::test::pair_cell_test
