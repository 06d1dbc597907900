// SPDX-License-Identifier: Apache-2.0
// A cell's summary over all ranks, and what its rates must have to do with each other.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <string>

#include "bench/topology/summarize.hpp"
#include "schedule/edge_list.hpp"
#include "support/served_channels.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::topology::topology_summary_test {
namespace {

using schedule::ChannelMode;
using schedule::Topology;
using test::run_on_threads;
using test::ThreadCluster;

constexpr Cell cell{0, 0, 0, 1000};

Topology named(const std::string& name, int num_ranks) {
  return Topology(schedule::parse_topology("--topology", name, ChannelMode::both_ways, num_ranks).at(0), num_ranks);
}

/// Exchange i of rank r: of its own 100 (i + 1) + r, but rank 1 is the slowest of the last exchange.
std::vector<kernel::ExchangeSample> samples_of(int rank, std::uint64_t num) {
  std::vector<kernel::ExchangeSample> samples;
  for (std::uint64_t i = 0; i < num; ++i) {
    std::uint64_t own_ns = 100 * (i + 1) + static_cast<std::uint64_t>(rank);
    if (rank == 1 && i + 1 == num) own_ns = 9000;
    samples.push_back({own_ns, own_ns + 50});
  }
  return samples;
}

/// What every rank got; that of rank 0 is the cell's.
std::vector<CellNumbers> summarized(
    const Topology& topology, std::uint64_t num_exchanges,
    const std::function<double(int rank, int partner)>& arrival_ns,
    const std::function<std::size_t(int rank)>& num_lost = [](int) { return 0; }) {
  std::vector<CellNumbers> numbers(static_cast<std::size_t>(topology.num_ranks()));
  run_on_threads(std::vector<std::uint32_t>(numbers.size()), [&](ThreadCluster& cluster) {
    const std::vector<schedule::Channel> channels = topology.channels(cluster.rank());
    std::vector<double> arrivals;
    for (const schedule::Channel& channel : channels) arrivals.push_back(arrival_ns(cluster.rank(), channel.partner));
    const std::vector<kernel::ExchangeSample> samples = samples_of(cluster.rank(), num_exchanges);
    const std::size_t num_served = channels.size() - num_lost(cluster.rank());
    numbers[static_cast<std::size_t>(cluster.rank())] =
        summarize(cluster, cell, topology.spec().mode, {samples, channels, num_served, arrivals, 10});
  });
  return numbers;
}

double all_at_once(int /*rank*/, int /*partner*/) { return 200; }

TEST(CellSummary, CountsTheChannelsThatWereServed) {
  const auto all = summarized(named("complete2", 4), 5, all_at_once).at(0).summary;
  EXPECT_EQ(all.served.num, 6);
  EXPECT_EQ(all.served.max_rank, 3);
  const auto left = summarized(named("complete2", 4), 5, all_at_once, [](int rank) { return rank < 2 ? 1 : 0; }).at(0);
  EXPECT_EQ(left.summary.served.num, 5);
  EXPECT_EQ(left.summary.served.max_rank, 3);
  EXPECT_DOUBLE_EQ(left.summary.slowest_rank.bytes_per_s, 1e9 * 2 * 2 * 1000 / 301);  // rank 1, with two of three
}

TEST(CellSummary, OfNoChannelHasNoTimes) {
  const auto all = summarized(named("star2", 3), 5, all_at_once, [](int rank) { return rank == 0 ? 2 : 1; }).at(0);
  EXPECT_EQ(all.summary.served.num, 0);
  EXPECT_EQ(all.summary.exchange.num, 0u);
  EXPECT_TRUE(std::isnan(all.summary.exchange.median));
  EXPECT_TRUE(std::isnan(all.summary.with_barrier.mean));
  EXPECT_TRUE(all.with_barrier_ns.empty());
}

TEST(CellSummary, TakesTheSlowestRankOfEachExchange) {
  const CellNumbers all = summarized(named("complete2", 4), 5, all_at_once).at(0);
  EXPECT_EQ(all.slowest_rank_ns, (std::vector<double>{103, 203, 303, 403, 9000}));
  EXPECT_EQ(all.with_barrier_ns, (std::vector<double>{150, 250, 350, 450, 550}));
  EXPECT_EQ(all.summary.exchange.num, 5u);
  EXPECT_EQ(all.summary.exchange.median, 303);
  EXPECT_EQ(all.summary.exchange.max, 9000);
  EXPECT_EQ(all.summary.with_barrier.median, 350);
  EXPECT_EQ(all.summary.with_barrier.mean, 350);
  EXPECT_EQ(all.verified_bytes, 40u);
}

TEST(CellSummary, KnowsTheIntervalOfTheMedian) {
  const CellNumbers all = summarized(named("ring2", 3), 20, all_at_once).at(0);
  const ExchangeTimes& times = all.summary.with_barrier;
  EXPECT_EQ(times.median, 1100);
  EXPECT_EQ(times.median_low, 650);  // the 6th and the 15th of 20
  EXPECT_EQ(times.median_high, 1550);
}

TEST(CellSummary, TravelsInPiecesWhereThereAreManyExchanges) {
  const CellNumbers all = summarized(named("ring2", 2), 20'000, all_at_once).at(0);
  ASSERT_EQ(all.slowest_rank_ns.size(), 20'000u);
  for (std::size_t i = 0; i + 1 < 20'000; ++i) ASSERT_EQ(all.slowest_rank_ns[i], 100.0 * static_cast<double>(i) + 101);
  EXPECT_EQ(all.slowest_rank_ns.back(), 2e6);  // rank 0's
}

TEST(CellSummary, RatesEachRankByItsOwnBytesAndMedian) {
  const std::vector<CellNumbers> numbers = summarized(named("star2", 4), 3, all_at_once);
  const CellSummary& summary = numbers.at(0).summary;
  // The centre moves three times as much as the others in about the same time.
  EXPECT_EQ(summary.fastest_rank.rank, 0);
  EXPECT_DOUBLE_EQ(summary.fastest_rank.bytes_per_s, 1e9 * 6000 / 200);
  EXPECT_EQ(summary.slowest_rank.rank, 3);
  EXPECT_DOUBLE_EQ(summary.slowest_rank.bytes_per_s, 1e9 * 2000 / 203);
  EXPECT_DOUBLE_EQ(summary.median_rank_bytes_per_s, (1e9 * 2000 / 201 + 1e9 * 2000 / 202) / 2);
  EXPECT_EQ(numbers.at(2).own.median, 202);
}

TEST(CellSummary, NamesTheLowestOfRanksThatAreAlike) {
  std::vector<CellNumbers> numbers(4);
  run_on_threads({0, 0, 0, 0}, [&](ThreadCluster& cluster) {
    const std::vector<schedule::Channel> channels{{(cluster.rank() + 1) % 4, true}};
    const std::vector<kernel::ExchangeSample> samples{{100, 100}};
    const std::vector<double> arrivals{50};
    numbers[static_cast<std::size_t>(cluster.rank())] =
        summarize(cluster, cell, ChannelMode::one_way, {samples, channels, channels.size(), arrivals, 0});
  });
  EXPECT_EQ(numbers.at(0).summary.slowest_rank.rank, 0);
  EXPECT_EQ(numbers.at(0).summary.fastest_rank.rank, 0);
}

TEST(CellSummary, LeavesOutRanksWithoutChannels) {
  const std::vector<CellNumbers> numbers = summarized(named("halves", 5), 3, all_at_once);
  EXPECT_EQ(numbers.at(4).own.num, 0u);
  EXPECT_TRUE(std::isnan(numbers.at(4).own.median));
  const CellNumbers& all = numbers.at(0);
  EXPECT_EQ(all.slowest_rank_ns, (std::vector<double>{103, 203, 9000}));  // 104 and 204 are rank 4's, who did nothing
  EXPECT_EQ(all.summary.slowest_rank.rank, 3);
}

TEST(CellSummary, FindsTheSlowestDirectionAndHowEvenTheyAre) {
  const Topology complete = named("complete2", 4);
  const auto one_slow = [](int rank, int partner) { return rank == 2 && partner == 3 ? 1000.0 : 250.0; };
  const CellSummary slow = summarized(complete, 1, one_slow).at(0).summary;
  EXPECT_EQ(slow.slowest_channel.from, 3);
  EXPECT_EQ(slow.slowest_channel.to, 2);
  EXPECT_EQ(slow.slowest_channel.time_ns, 1000);
  EXPECT_NEAR(slow.fairness, (11.25 * 11.25) / (12 * (11 + 0.0625)), 1e-12);  // rates 4, once 1
  EXPECT_NEAR(summarized(complete, 1, all_at_once).at(0).summary.fairness, 1, 1e-12);
}

TEST(CellSummary, DoesNotCountWhatWasNotTracedOrDoesNotArrive) {
  const auto nothing = [](int, int) { return 0.0; };
  const CellSummary untraced = summarized(named("ring", 3), 2, nothing).at(0).summary;
  EXPECT_EQ(untraced.slowest_channel.from, -1);
  EXPECT_TRUE(std::isnan(untraced.slowest_channel.time_ns));
  EXPECT_TRUE(std::isnan(untraced.fairness));
  const auto at_the_hot_rank = [](int rank, int) { return rank == 0 ? 300.0 : 0.0; };
  const CellSummary incast = summarized(named("incast:1", 4), 2, at_the_hot_rank).at(0).summary;
  EXPECT_NEAR(incast.fairness, 1, 1e-12);
  EXPECT_EQ(incast.slowest_channel.to, 0);
}

TEST(TimesOf, NothingAreNotMeasured) {
  const ExchangeTimes times = times_of({});
  EXPECT_EQ(times.num, 0u);
  EXPECT_TRUE(std::isnan(times.median));
}

TopologyFacts facts_of(const Topology& topology) {
  return {topology.spec().name,    topology.spec().shape,   topology.spec().mode,
          topology.num_channels(), topology.max_channels(), {}};
}

TEST(Rates, OfAStarAreThoseOfItsCentre) {
  for (const std::string name : {"star", "star2"}) {
    for (int num_ranks = 2; num_ranks <= 9; ++num_ranks) {
      const Rates rates =
          rates_of(facts_of(named(name, num_ranks)), all_channels(facts_of(named(name, num_ranks))), 4096, 1e6);
      EXPECT_DOUBLE_EQ(rates.local, rates.total);
      EXPECT_DOUBLE_EQ(rates.total, 2 * 4096 * (num_ranks - 1) * 1e3);
    }
  }
}

TEST(Rates, OfAChannelTimesChannelsAreTheNetworks) {
  for (const std::string name : {"star", "complete", "ring", "halves", "tree", "incast:1", "torus-2d"}) {
    const Topology topology = named(name, 8);
    const Rates rates = rates_of(facts_of(topology), all_channels(facts_of(topology)), 512, 3e5);
    EXPECT_NEAR(rates.average * static_cast<double>(topology.num_channels()), rates.total, 1e-9 * rates.total) << name;
  }
}

/// Every byte is sent once and received once.
TEST(Rates, OfAllRanksTogetherAreTwiceTheNetworks) {
  for (const std::string name : {"star2", "complete", "complete2", "ring", "ring2", "tree", "incast:2", "outcast:2"}) {
    const Topology topology = named(name, 8);
    const Rates rates = rates_of(facts_of(topology), all_channels(facts_of(topology)), 512, 3e5);
    double sum = 0;
    for (int rank = 0; rank < 8; ++rank) sum += rates.average * topology.num_channels(rank);
    EXPECT_NEAR(sum, 2 * rates.total, 1e-9 * sum) << name;
    if (name.starts_with("complete") || name.starts_with("ring")) {
      EXPECT_NEAR(rates.local, 2 * rates.total / 8, 1e-9 * sum) << name;
    }
  }
}

}  // namespace
}  // namespace leadline::bench::topology::topology_summary_test
