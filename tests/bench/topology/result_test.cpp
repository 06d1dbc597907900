// SPDX-License-Identifier: Apache-2.0
// Rates follow NETTEST's definitions: their identities, and its page's own sample.
#include "bench/topology/result.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/served_channels.hpp"

namespace leadline::bench::topology {
namespace {

TopologyFacts facts_of(schedule::Shape shape, schedule::ChannelMode mode, int num_ranks) {
  const schedule::Topology topology({.name = "it", .shape = shape, .mode = mode}, num_ranks);
  return {"it", shape, mode, topology.num_channels(), topology.max_channels(), {}};
}

TEST(Rates, OfAStarAreTheCentres) {
  for (int num_ranks = 2; num_ranks <= 64; ++num_ranks) {
    const Rates rates =
        rates_of(facts_of(schedule::Shape::star, schedule::ChannelMode::answered, num_ranks),
                 all_channels(facts_of(schedule::Shape::star, schedule::ChannelMode::answered, num_ranks)), 4096, 1e4);
    EXPECT_DOUBLE_EQ(rates.local, rates.total);
    EXPECT_DOUBLE_EQ(rates.total, rates.average * (num_ranks - 1));
  }
}

TEST(Rates, OfARingAndACompleteGraphCountEveryByteAtBothEnds) {
  for (int num_ranks = 2; num_ranks <= 64; ++num_ranks) {
    for (const schedule::Shape shape : {schedule::Shape::ring, schedule::Shape::complete}) {
      const TopologyFacts facts = facts_of(shape, schedule::ChannelMode::both_ways, num_ranks);
      const Rates rates = rates_of(facts, all_channels(facts), 4096, 1e4);
      EXPECT_DOUBLE_EQ(num_ranks * rates.local, 2 * rates.total);
      EXPECT_DOUBLE_EQ(rates.total, rates.average * static_cast<double>(facts.num_channels));
    }
  }
}

TEST(Rates, OneWayCountOneMessageAChannel) {
  const Rates rates =
      rates_of(facts_of(schedule::Shape::incast, schedule::ChannelMode::one_way, 4),
               all_channels(facts_of(schedule::Shape::incast, schedule::ChannelMode::one_way, 4)), 1000, 1000);
  EXPECT_DOUBLE_EQ(rates.average, 1e9);
  EXPECT_DOUBLE_EQ(rates.total, 3e9);
  EXPECT_DOUBLE_EQ(rates.local, 3e9);
}

TEST(Rates, AreThoseOfTheSampleOnTheOldPage) {
  // 4 nodes, 16 KiB: 25.19 MiB/s in Chaos are 7.44 ms an exchange, 36.48 in Ring 3.43 ms.
  constexpr double mib = 1 << 20;
  const auto total = [](schedule::Shape shape, double time_ms) {
    return rates_of(facts_of(shape, schedule::ChannelMode::answered, 4),
                    all_channels(facts_of(shape, schedule::ChannelMode::answered, 4)), 16384, 1e6 * time_ms)
               .total /
           mib;
  };
  EXPECT_NEAR(total(schedule::Shape::complete, 7.44), 25.19, 0.02);
  EXPECT_NEAR(total(schedule::Shape::ring, 3.43), 36.48, 0.05);
  EXPECT_NEAR(total(schedule::Shape::star, 6.24), 15.03, 0.02);
}

TEST(Rates, CountTheChannelsThatWereServed) {
  const TopologyFacts facts = facts_of(schedule::Shape::complete, schedule::ChannelMode::both_ways, 4);
  const Rates rates = rates_of(facts, {3, 2}, 1000, 1000);  // one of four ranks is lost
  EXPECT_DOUBLE_EQ(rates.average, 2e9);
  EXPECT_DOUBLE_EQ(rates.total, 6e9);
  EXPECT_DOUBLE_EQ(rates.local, 4e9);
}

TEST(Rates, OfWhatWasNotMeasuredAreNotNumbers) {
  const Rates rates =
      rates_of(facts_of(schedule::Shape::star, schedule::ChannelMode::answered, 3),
               all_channels(facts_of(schedule::Shape::star, schedule::ChannelMode::answered, 3)), 1, std::nan(""));
  EXPECT_TRUE(std::isnan(rates.local) && std::isnan(rates.total) && std::isnan(rates.average));
}

}  // namespace
}  // namespace leadline::bench::topology
