// SPDX-License-Identifier: Apache-2.0
// Distributed quantiles are exactly those of all numbers brought together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/link/tally.hpp"
#include "core/random.hpp"
#include "stats/summary.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::link {
namespace {

using test::run_on_threads;
using test::ThreadCluster;

/// One rank's numbers: spread over decades, many ties, none at all on some ranks.
OwnMedians medians_of(int rank) {
  Random random(7, static_cast<std::uint64_t>(rank));
  OwnMedians own;
  for (int i = 0; i < 40 * (rank % 3); ++i) {
    const double value = std::exp(10 * random.uniform());
    (i % 4 == 0 ? own.between_hosts : own.same_host).push_back(i % 5 == 0 ? 100.0 : value);
  }
  std::sort(own.same_host.begin(), own.same_host.end());
  std::sort(own.between_hosts.begin(), own.between_hosts.end());
  return own;
}

std::vector<double> brought_together(int num_ranks, bool same_host, bool between_hosts) {
  std::vector<double> all;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const OwnMedians own = medians_of(rank);
    if (same_host) all.insert(all.end(), own.same_host.begin(), own.same_host.end());
    if (between_hosts) all.insert(all.end(), own.between_hosts.begin(), own.between_hosts.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

void expect_summary_of(const PairSummary& summary, const std::vector<double>& sorted) {
  ASSERT_EQ(summary.num_pairs, sorted.size());
  EXPECT_EQ(summary.time_ns_min, sorted.front());
  EXPECT_EQ(summary.time_ns_max, sorted.back());
  EXPECT_DOUBLE_EQ(summary.time_ns_p01, stats::quantile_of_sorted(sorted, 0.01));
  EXPECT_DOUBLE_EQ(summary.time_ns_p25, stats::quantile_of_sorted(sorted, 0.25));
  EXPECT_DOUBLE_EQ(summary.time_ns_median, stats::quantile_of_sorted(sorted, 0.5));
  EXPECT_DOUBLE_EQ(summary.time_ns_p99, stats::quantile_of_sorted(sorted, 0.99));
  const stats::OrderInterval interval = stats::median_interval(sorted.size());
  EXPECT_EQ(summary.median_interval_low_ns, sorted[interval.low]);
  EXPECT_EQ(summary.median_interval_high_ns, sorted[interval.high]);
}

TEST(OrderStatistics, AreThoseOfAllNumbersTogether) {
  for (const int num_ranks : {2, 3, 5}) {
    const std::vector<std::uint32_t> hosts(static_cast<std::size_t>(num_ranks), 0);
    run_on_threads(hosts, [&](ThreadCluster& cluster) {
      const ClassSummaries summaries = summarize_pairs(cluster, medians_of(cluster.rank()));
      expect_summary_of(summaries.all, brought_together(num_ranks, true, true));
      expect_summary_of(summaries.same_host, brought_together(num_ranks, true, false));
      expect_summary_of(summaries.between_hosts, brought_together(num_ranks, false, true));
    });
  }
}

TEST(OrderStatistics, OfOneNumberAreThatNumber) {
  run_on_threads({0}, [](ThreadCluster& cluster) {
    const ClassSummaries summaries = summarize_pairs(cluster, {{5.0}, {}});
    EXPECT_EQ(summaries.all.num_pairs, 1u);
    EXPECT_EQ(summaries.all.time_ns_median, 5.0);
    EXPECT_EQ(summaries.all.time_ns_p99, 5.0);
    EXPECT_TRUE(std::isnan(summaries.between_hosts.time_ns_median));
  });
}

TEST(OrderStatistics, OfNothingAreNotANumber) {
  run_on_threads({0, 0}, [](ThreadCluster& cluster) {
    const ClassSummaries summaries = summarize_pairs(cluster, {});
    EXPECT_EQ(summaries.all.num_pairs, 0u);
    EXPECT_TRUE(std::isnan(summaries.all.time_ns_median));
  });
}

}  // namespace
}  // namespace leadline::bench::link
