// SPDX-License-Identifier: Apache-2.0
// The summary of a bisection test: word by word for one size, its parts for everything else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "bench/bisection/made_up.hpp"
#include "bench/bisection/text.hpp"

namespace leadline::output {
namespace {

using test::gibi;
using test::made_up_named;
using test::made_up_result;
using test::made_up_sweep;
using test::mebi;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(BisectionSummary, ReadsLikeThis) {
  EXPECT_EQ(bench::bisection::bisection_summary(made_up_result(), "run.h5"),
            R"(8 ranks on 4 hosts, transport tcp (sockets of the kernel), waiting: yield
each pattern: 20 timed exchanges after 2 for warm-up; random pairs between hosts; seed 7

message size 1 MiB: eBB = 4.000 ± 0.040 GiB/s (95 %, 120 patterns)
  0.800 ± 0.012 of pairs alone (5.000 ± 0.060 GiB/s, 120 pairs)
  static share 0.950 ± 0.010 (pairs alone over the fastest one), tail 2.100 (median over 1 % quantile)
  stopped: precision of 1 % reached after 120 patterns

  960 connections       GiB/s
  mean, the eBB         4.000
  mean under full load  4.400  ± 0.080, until the first connection of a pattern is done
  harmonic mean         3.600  message size / mean time, as Netgauge counts
  fastest               5.000
  median                4.200
  5 % are below         2.400
  1 % are below         2.000
  slowest               1.000

how many connections with messages of 1 MiB were how fast
  GiB/s from     to  us from        to  connections
       4.883  2.441  200.000   400.000          800  ########################################
       2.441  1.628  400.000   600.000          150  ########
       1.628  1.221  600.000   800.000            0
       1.221  0.977  800.000  1000.000           10  #

named patterns with messages of 1 MiB, in GiB/s
  pattern  connections   mean  harmonic  slowest  from   to     mean / eBB
  halves             8  3.000     2.700    1.500  3 (b)  6 (d)       0.750
  shift:1            8  5.000     4.500    2.500  3 (b)  6 (d)       1.250

worst pattern after 2 steps of the search, messages of 1 MiB: 2.000 GiB/s, 0.500 of the eBB (pattern 5)
  worst random pattern: 3.600 GiB/s, 0.900 of the eBB (pattern 1)

verdict: 1 fault found
  1. host c is slow: 2 times as long as usual (1.9 to 2.1)
     seen     26 ordered pairs
     again    measured again alone: 2.02 times as long, so it is also there without load

connections with all others, and measured again alone (slow: below 90 % of the median)
  from       to     pattern  under load GiB/s  alone GiB/s
  5 (c)  ->  0 (a)        0             2.100        2.211  slow alone, too
  3 (b)  ->  6 (d)        1             1.050        4.200  slow only under load
  0 (a)  ->  5 (c)        1             3.818        4.200  not unusual

measured 6 patterns in 3.00 s
result: run.h5
next:   leadline report run.h5
)");
}

TEST(BisectionSummary, OfSeveralSizesIsARowEach) {
  const std::string text = bench::bisection::bisection_summary(made_up_sweep(), "");
  EXPECT_THAT(text, HasSubstr(R"(
effective bisection bandwidth (eBB) in GiB/s, 95 % intervals over patterns
  message size  patterns            eBB  ± %    pairs alone       of alone  stopped by
         1 MiB       120  4.000 ± 0.040  1.0  5.000 ± 0.060  0.800 ± 0.012  precision
         2 MiB        57  5.000 ± 0.050  1.0  6.250 ± 0.075  0.800 ± 0.012  time limit

connections in GiB/s
  message size  harmonic  full load  fastest  median    5 %    1 %  slowest   tail   static share
         1 MiB     3.600      4.400    5.000   4.200  2.400  2.000    1.000  2.100  0.950 ± 0.010
         2 MiB     4.500      5.500    6.250   5.250  3.000  2.500    1.250  2.100  0.950 ± 0.010
)"));
  EXPECT_THAT(text, HasSubstr("how many connections with messages of 2 MiB"));
  EXPECT_THAT(text, HasSubstr(R"(
named patterns, mean of the connections in GiB/s
  pattern  1 MiB  2 MiB
  halves   3.000  3.500
  shift:1  5.000  6.000

named patterns with messages of 2 MiB, in GiB/s
)"));
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("         1 MiB  3 (b)  ->  6 (d)        1             1.050        4.200  slow only under load"),
            Not(HasSubstr("not unusual"))));
}

TEST(BisectionSummary, SaysWhyThereAreNoMorePatterns) {
  bench::bisection::BisectionResult result = made_up_result();
  result.sizes[0].stopped_by = bench::bisection::StopReason::rounds;
  result.sizes[0].ebb.half_width = 0.014 * result.sizes[0].ebb.mean;
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              HasSubstr("  stopped: all rounds done, 120 patterns; the interval is ± 1.4 %\n"));
  result.sizes[0].stopped_by = bench::bisection::StopReason::time_limit;
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              HasSubstr("  stopped: time limit of 2 min 00 s reached after 120 patterns; the interval is ± 1.4 %\n"));
  result.sizes[0].stopped_by = bench::bisection::StopReason::not_stopped;
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              HasSubstr("  not finished: 120 patterns; the interval is ± 1.4 %\n"));
}

TEST(BisectionSummary, OfOnePatternHasNoInterval) {
  bench::bisection::BisectionResult result = made_up_result();
  bench::bisection::BisectionSummary& size = result.sizes[0];
  size.num_patterns = 1;
  size.stopped_by = bench::bisection::StopReason::rounds;
  size.ebb.half_width = size.full_load.half_width = size.baseline.half_width = size.contention_share.half_width =
      size.static_share.half_width = nan;
  const std::string text = bench::bisection::bisection_summary(result, "");
  EXPECT_THAT(text,
              AllOf(HasSubstr("eBB = 4.000 GiB/s (1 pattern)\n"), HasSubstr("  0.800 of pairs alone (5.000 GiB/s"),
                    HasSubstr("  stopped: all rounds done, 1 pattern\n"), Not(HasSubstr("±"))));
}

TEST(BisectionSummary, WithoutPairsAloneDoesNotSpeakOfThem) {
  bench::bisection::BisectionResult result = made_up_sweep();
  for (bench::bisection::BisectionSummary& size : result.sizes)
    size.baseline = size.contention_share = size.static_share = {};
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""), Not(HasSubstr("pairs alone")));
  result.sizes.pop_back();
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""), Not(HasSubstr("pairs alone")));
}

TEST(BisectionSummary, OfNamedPatternsAloneIsTheirTable) {
  bench::bisection::BisectionResult result = made_up_result();
  result.request.patterns = {"halves", "shift:1"};
  result.patterns = {made_up_named(0, 0, "halves", 3), made_up_named(1, 1, "shift:1", 5)};
  result.sizes.clear();
  result.slow_connections.clear();
  result.diagnoses.clear();
  const std::string text = bench::bisection::bisection_summary(result, "");
  EXPECT_THAT(text, HasSubstr("after 2 for warm-up\n\nnamed patterns with messages of 1 MiB, in GiB/s\n"
                              "  pattern  connections   mean  harmonic  slowest  from   to\n"
                              "  halves             8  3.000     2.700    1.500  3 (b)  6 (d)\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("eBB")), Not(HasSubstr("seed")), Not(HasSubstr("verdict"))));
}

TEST(BisectionSummary, BringsRepeatsOfNamedPatternsTogether) {
  bench::bisection::BisectionResult result = made_up_result();
  result.request.repeat = 2;
  bench::bisection::PatternSummary again = made_up_named(4, 0, "halves", 1);
  again.position.repeat = 1;
  again.slowest_from = 7;
  result.patterns.push_back(again);
  // Harmonic: 2.7 and 0.9, of which 2 / (1/2.7 + 1/0.9) is 1.35.
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              HasSubstr("  halves             8  2.000     1.350    0.500  7 (d)  6 (d)       0.500  100.0 %\n"));
}

TEST(BisectionSummary, SaysWhatThereWasNoTimeFor) {
  bench::bisection::BisectionResult result = made_up_result();
  result.request.num_worst_steps = 50;
  result.pattern_names = {"halves", "shift:1", "shift:2"};
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              AllOf(HasSubstr("  there was time for 2 of 3 named patterns; --time-limit says for how many\n"),
                    HasSubstr("worst pattern after 2 of 50 steps of the search")));
}

TEST(BisectionSummary, OfVeryManyPatternsShowsBothEnds) {
  bench::bisection::BisectionResult result = made_up_result();
  result.patterns.clear();
  result.pattern_names.clear();
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::string name = "shift:" + std::to_string(i + 1);
    result.pattern_names.push_back(name);
    result.patterns.push_back(made_up_named(i, i, name, 1 + static_cast<double>(i)));
  }
  const std::string text = bench::bisection::bisection_summary(result, "");
  EXPECT_THAT(text, AllOf(HasSubstr("  shift:1 "), HasSubstr("  shift:12 "), Not(HasSubstr("  shift:13 ")),
                          Not(HasSubstr("  shift:88 ")), HasSubstr("  shift:89 "), HasSubstr("  shift:100 "),
                          HasSubstr("lowest and the highest of 100 patterns")));
}

TEST(BisectionSummary, ShowsManyBucketsTogether) {
  bench::bisection::BisectionResult result = made_up_result();
  auto& buckets = result.sizes[0].buckets;
  buckets.clear();
  for (int i = 0; i < 50; ++i) buckets.push_back({1e5 + 1e4 * i, 1.1e5 + 1e4 * i, 2});
  const std::string text = bench::bisection::bisection_summary(result, "");
  EXPECT_THAT(text, HasSubstr("  100.000  130.000            6  ####"));
  EXPECT_THAT(text, HasSubstr("  580.000  600.000            4  ####"));
  EXPECT_THAT(text, HasSubstr("of 50 buckets neighbours are shown together"));
  buckets.clear();
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""), Not(HasSubstr("were how fast")));
}

TEST(BisectionSummary, SaysThatNothingIsSlow) {
  bench::bisection::BisectionResult result = made_up_result();
  result.diagnoses[0].diagnosis.faults.clear();
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""), HasSubstr("\nverdict: no fault found"));
  result = made_up_sweep();
  result.slow_connections.erase(result.slow_connections.begin(), result.slow_connections.begin() + 2);
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              HasSubstr("\nno slow connections (slow: below 90 % of the median"));
}

TEST(BisectionSummary, SaysWhatWasNotRetested) {
  bench::bisection::BisectionResult result = made_up_result();
  result.slow_connections[0].alone_time_ns = nan;
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""), HasSubstr("1.050            -  slow, not retested\n"));
}

TEST(BisectionSummary, SaysWhoTakesPart) {
  bench::bisection::BisectionResult result = made_up_result();
  result.num_participants = 4;
  result.request.active_ranks_per_host = 1;
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              HasSubstr("\n4 of them take part, 1 of each host at most\n"));
  result = made_up_result();
  result.within_hosts = true;
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""), HasSubstr("; random pairs, also on one host; seed 7\n"));
  result.provenance.num_hosts = 1;
  result.hosts = {{"a", "0-7"}};
  EXPECT_THAT(bench::bisection::bisection_summary(result, ""),
              AllOf(HasSubstr("for warm-up; seed 7\n"), HasSubstr("\n  3     ->  6 ")));
}

TEST(BisectionSummary, OfNothingIsHeadAndTail) {
  bench::bisection::BisectionResult result;
  result.provenance.num_ranks = 2;
  result.provenance.num_hosts = 1;
  result.num_participants = 2;
  EXPECT_THAT(bench::bisection::bisection_summary(result, "run.h5"),
              AllOf(HasSubstr("INCOMPLETE"), HasSubstr("2 ranks on 1 host"), HasSubstr("result: run.h5")));
}

TEST(BisectionSummary, IsNoWiderThanAScreen) {
  for (const bench::bisection::BisectionResult& result : {made_up_result(), made_up_sweep()}) {
    std::size_t width = 0;
    for (const char byte : bench::bisection::bisection_summary(result, "")) {
      width = byte == '\n' ? 0 : width + 1;
      EXPECT_LE(width, 120u);
    }
  }
}

}  // namespace
}  // namespace leadline::output
