// SPDX-License-Identifier: Apache-2.0
// Verdicts compare with the class of the pair, under load and alone.
#include "bench/link/slice_facts.hpp"

#include <gtest/gtest.h>

#include "bench/link/result_fixture.hpp"

namespace leadline::test {
namespace {

using bench::link::slow_pairs_of;
using bench::link::Verdict;

/// Two classes: 1000 ns on a host, 2000 ns between hosts.
bench::link::LinkResult result_with(const SlowPair& pair, const std::string& from_host, const std::string& to_host) {
  bench::link::LinkResult result;
  bench::link::SliceSummary other;
  other.slowest = {{.from = 9, .to = 8, .time_ns = 1, .retest_time_ns = 1}};
  bench::link::SliceSummary summary;
  summary.all = pair_summary(1500);
  summary.same_host = pair_summary(1000);
  summary.between_hosts = pair_summary(2000);
  summary.slowest = {pair};
  result.slices = {other, summary};
  result.slow_pair_hosts = {"x", "y", from_host, to_host};
  return result;
}

Verdict verdict(double time_ns, double retest_time_ns, const std::string& to_host) {
  const SlowPair pair{.from = 1, .to = 2, .time_ns = time_ns, .retest_time_ns = retest_time_ns};
  return slow_pairs_of(result_with(pair, "a", to_host), 1).at(0).verdict;
}

TEST(SlowPairs, AreJudgedWithinTheirClass) {
  EXPECT_EQ(verdict(1600, 1550, "a"), Verdict::slow_alone_too);
  EXPECT_EQ(verdict(1600, 1000, "a"), Verdict::only_under_load);
  EXPECT_EQ(verdict(1510, 1490, "a"), Verdict::slow_alone_too);  // across the line by jitter
  EXPECT_EQ(verdict(1400, 1000, "a"), Verdict::not_slow);
  EXPECT_EQ(verdict(2900, 2800, "b"), Verdict::not_slow);
  EXPECT_EQ(verdict(3000, 3000, "b"), Verdict::slow_alone_too);
  EXPECT_EQ(verdict(9000, 0, "b"), Verdict::not_retested);
}

TEST(SlowPairs, KnowTheirHostsAndRatio) {
  const SlowPair pair{.from = 1, .to = 2, .time_ns = 3000, .retest_time_ns = 2000};
  const auto details = slow_pairs_of(result_with(pair, "a", "b"), 1).at(0);
  EXPECT_EQ(details.from_host, "a");
  EXPECT_EQ(details.to_host, "b");
  EXPECT_EQ(details.ratio, 1.5);
  EXPECT_EQ(slow_pairs_of(result_with(pair, "a", "b"), 0).at(0).to_host, "y");
}

TEST(SlowPairs, CompareWithAllPairsWhereTheirClassIsUnknown) {
  bench::link::LinkResult result = result_with({.from = 1, .to = 2, .time_ns = 2300, .retest_time_ns = 2300}, "a", "b");
  result.slow_pair_hosts.clear();
  result.slices[1].same_host = {};
  const auto details = slow_pairs_of(result, 1).at(0);
  EXPECT_EQ(details.from_host, "");
  EXPECT_EQ(details.verdict, Verdict::slow_alone_too);
}

}  // namespace
}  // namespace leadline::test
