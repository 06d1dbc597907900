// SPDX-License-Identifier: Apache-2.0
// Times and bandwidths follow docs/metrics.md, and a row gives back what was put in.
#include "model/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace leadline {
namespace {

TEST(MessageTime, HalvesTheRoundTripOfAPingPongOnly) {
  const Sample sample{.elapsed_ns = 1000, .num_messages = 10};
  EXPECT_EQ(message_time_ns(sample, Direction::semidirectional, Path::to_partner), 50);
  EXPECT_EQ(message_time_ns(sample, Direction::unidirectional, Path::to_partner), 100);
  EXPECT_EQ(message_time_ns(sample, Direction::bidirectional, Path::to_partner), 100);
}

TEST(MessageTime, OfTheLoopToItselfIsOneWay) {
  const Sample sample{.elapsed_ns = 1000, .num_messages = 10};
  EXPECT_EQ(message_time_ns(sample, Direction::semidirectional, Path::to_self), 100);
}

TEST(MessageTime, OfNoMessagesIsNotANumber) {
  EXPECT_TRUE(
      std::isnan(message_time_ns({.elapsed_ns = 5, .num_messages = 0}, Direction::unidirectional, Path::to_partner)));
}

TEST(Bandwidth, CountsBothDirectionsWhereBothAreSent) {
  EXPECT_DOUBLE_EQ(bandwidth_bytes_per_s(1000, 1024, Direction::semidirectional), 1.024e9);
  EXPECT_DOUBLE_EQ(bandwidth_bytes_per_s(1000, 1024, Direction::unidirectional), 1.024e9);
  EXPECT_DOUBLE_EQ(bandwidth_bytes_per_s(1000, 1024, Direction::bidirectional), 2.048e9);
}

TEST(Bandwidth, OfWhatWasNotMeasuredIsNotANumber) {
  EXPECT_TRUE(std::isnan(bandwidth_bytes_per_s(0, 1024, Direction::semidirectional)));
  EXPECT_TRUE(std::isnan(bandwidth_bytes_per_s(NAN, 1024, Direction::semidirectional)));
}

TEST(PairRow, HoldsRecordsAndHoles) {
  PairRow row(3);
  row.set(1,
          {.count = 20, .time_ns_min = 1, .time_ns_median = 2, .time_ns_mean = 3, .time_ns_p99 = 4, .time_ns_max = 5});
  const PairRecord record = row.at(1);
  EXPECT_EQ(record.count, 20U);
  EXPECT_EQ(record.time_ns_min, 1);
  EXPECT_EQ(record.time_ns_median, 2);
  EXPECT_EQ(record.time_ns_mean, 3);
  EXPECT_EQ(record.time_ns_p99, 4);
  EXPECT_EQ(record.time_ns_max, 5);
  EXPECT_EQ(row.at(2).count, 0U);
  EXPECT_EQ(row.at(2).time_ns_median, 0);
  row.clear();
  EXPECT_EQ(row.at(1).count, 0U);
  EXPECT_EQ(row.at(1).time_ns_max, 0);
  EXPECT_THROW(row.set(3, record), std::out_of_range);
}

}  // namespace
}  // namespace leadline
