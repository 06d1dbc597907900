// SPDX-License-Identifier: Apache-2.0
// The summary of a link test, word by word for one slice, and its parts for everything else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "bench/link/text.hpp"
#include "output/run_text.hpp"

namespace leadline::bench::link {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

PairSummary pairs(std::uint64_t num_pairs, double median_ns) {
  return {.num_pairs = num_pairs,
          .time_ns_min = median_ns / 2,
          .time_ns_mean = median_ns * 1.25,
          .time_ns_max = median_ns * 4,
          .time_ns_p01 = median_ns * 0.5,
          .time_ns_p05 = median_ns * 0.625,
          .time_ns_p25 = median_ns * 0.75,
          .time_ns_median = median_ns,
          .time_ns_p75 = median_ns * 1.25,
          .time_ns_p95 = median_ns * 2,
          .time_ns_p99 = median_ns * 3,
          .time_ns_p999 = median_ns * 3.5,
          .median_interval_low_ns = median_ns * 0.875,
          .median_interval_high_ns = median_ns * 1.125};
}

LinkResult one_slice() {
  LinkResult result;
  result.complete = true;
  result.provenance.transport = {.name = "tcp", .library = "sockets of the kernel", .device = "lo"};
  result.provenance.wait = WaitMode::yield;
  result.provenance.num_ranks = 4;
  result.provenance.num_hosts = 2;
  result.num_rounds = 3;
  SliceSummary summary;
  summary.slice.message_size_bytes = 1024;
  summary.all = pairs(12, 4000);
  summary.same_host = pairs(4, 2000);
  summary.between_hosts = pairs(8, 4000);
  summary.slowest = {{.from = 3, .to = 1, .time_ns = 16000, .retest_time_ns = 15000},
                     {.from = 0, .to = 2, .time_ns = 8000, .retest_time_ns = 4000},
                     {.from = 1, .to = 2, .time_ns = 5000, .retest_time_ns = 5000}};
  summary.measuring_s = 1.5;
  summary.slowest_pairs_s = 1.25;
  summary.retest_s = 0.125;
  result.slices = {summary};
  result.slow_pair_hosts = {"b", "a", "a", "b", "a", "b"};
  return result;
}

TEST(LinkSummary, OfOneSliceReadsLikeThis) {
  LinkResult result = one_slice();
  result.findings = {{"not_bound", Severity::note, "Ranks are not bound.", "4 ranks on 2 cores", "Bind them."}};
  EXPECT_EQ(link_summary(result, "run.h5"),
            R"(4 ranks on 2 hosts, transport tcp (sockets of the kernel), waiting: yield
semidirectional: time is half a round trip; one direction at a time
12 ordered pairs, 3 rounds
  message  pairs          number    median       5 %      95 %    bandwidth
    1 KiB  same host           4  2.000 us  1.250 us  4.000 us  488.3 MiB/s
    1 KiB  between hosts       8  4.000 us  2.500 us  8.000 us  244.1 MiB/s

note: Ranks are not bound.

measured in 1.50 s
result: run.h5
next:   leadline report run.h5
)");
}

TEST(LinkSummary, HasAllDetailsIfVerbose) {
  LinkResult result = one_slice();
  result.request.verbose = true;
  result.findings = {{"not_bound", Severity::note, "Ranks are not bound.", "4 ranks on 2 cores", "Bind them."}};
  EXPECT_THAT(link_summary(result, "run.h5"),
              AllOf(HasSubstr("between hosts       8  4.000 us  2.500 us  8.000 us  244.1 MiB/s\n"), HasSubstr(R"(
message size 1 KiB, 3 rounds
                        all: us    MiB/s  same host: us    MiB/s  between hosts: us    MiB/s
  ordered pairs              12                       4                           8
  median                  4.000  244.141          2.000  488.281              4.000  244.141
    95 % interval from    3.500  279.018          1.750  558.036              3.500  279.018
                    to    4.500  217.014          2.250  434.028              4.500  217.014
  min (fastest pair)      2.000  488.281          1.000  976.562              2.000  488.281
  p01                     2.000  488.281          1.000  976.562              2.000  488.281
  p05                     2.500  390.625          1.250  781.250              2.500  390.625
  p25                     3.000  325.521          1.500  651.042              3.000  325.521
  p75                     5.000  195.312          2.500  390.625              5.000  195.312
  p95                     8.000  122.070          4.000  244.141              8.000  122.070
  p99                    12.000   81.380          6.000  162.760             12.000   81.380
  p99.9                  14.000   69.754          7.000  139.509             14.000   69.754
  max (slowest pair)     16.000   61.035          8.000  122.070             16.000   61.035
  mean                    5.000  195.312          2.500  390.625              5.000  195.312

slowest pairs (first under load, then alone)
  from       to     first us  retest us  ratio  verdict
  3 (b)  ->  1 (a)    16.000     15.000   1.07  slow alone too
  0 (a)  ->  2 (b)     8.000      4.000   2.00  only under load
  1 (a)  ->  2 (b)     5.000      5.000   1.00  not unusual

note: Ranks are not bound.
    4 ranks on 2 cores
    Bind them.

measured in 1.50 s (slowest halves of the rounds 1.25 s, retest 0.12 s)
result: run.h5
)")));
}

TEST(LinkSummary, BeginsWithTheVerdict) {
  LinkResult result = one_slice();
  Diagnosis& diagnosis = result.slices[0].diagnosis.emplace();
  diagnosis.num_pairs = diagnosis.num_measured = 12;
  EXPECT_THAT(link_summary(result, ""), testing::StartsWith("verdict: no fault found: "));
  result.complete = false;
  result.incomplete_reason = "told to stop";
  EXPECT_THAT(link_summary(result, ""), testing::StartsWith("INCOMPLETE: told to stop\nverdict: no fault found: "));
}

TEST(LinkSummary, OfRepeatsHasOneRowForAll) {
  LinkResult result = one_slice();
  result.slices[0].same_host = {};
  result.slices.resize(3, result.slices[0]);
  for (int repeat = 1; repeat < 3; ++repeat) {
    result.slices[static_cast<std::size_t>(repeat)].slice.repeat = repeat;
    result.slices[static_cast<std::size_t>(repeat)].between_hosts = pairs(8, 4000 * (repeat + 1));
  }
  EXPECT_THAT(link_summary(result, ""),
              HasSubstr("    1 KiB  between hosts       8  8.000 us  2.500 us  24.00 us  122.1 MiB/s\n"
                        "  of 3 repeats: the median of their medians, the least 5 %, the greatest 95 %\n"));
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(LinkSummary, IsAsWideAsThereIsRoom) {
  LinkResult result = one_slice();
  result.provenance.transport.library = "l";
  result.slices[0].between_hosts = pairs(9'999'999'999, 123.4);
  result.slices[0].slice.message_size_bytes = 1000 << 10;
  for (const int width : {48, 67, 68, 80, 99, 100, 200}) {
    const std::string table = link_summary(result, "", width).substr(link_summary(result, "", width).find("  message"));
    EXPECT_LE(widest_line(table), static_cast<std::size_t>(width));
    EXPECT_EQ(table.find("95 %") != std::string::npos, width >= 68);
    EXPECT_EQ(table.find("number") != std::string::npos, width >= 80);
    EXPECT_EQ(table.find("slowest") != std::string::npos, width >= 100);
  }
}

TEST(WhereItLies, GivesACommandThatAShellTakesAsItIs) {
  EXPECT_EQ(output::where_it_lies(ResultFormat::hdf5, "a \u00fc b.h5"),
            "result: a \u00fc b.h5\nnext:   leadline report 'a \u00fc b.h5'\n");
  EXPECT_EQ(output::where_it_lies(ResultFormat::hdf5, "it's.h5"),
            "result: it's.h5\nnext:   leadline report 'it'\\''s.h5'\n");
  EXPECT_EQ(output::where_it_lies(ResultFormat::hdf5, "~/r.h5"), "result: ~/r.h5\nnext:   leadline report '~/r.h5'\n");
  EXPECT_EQ(output::where_it_lies(ResultFormat::hdf5, "d/r-1_\u00fc.h5"),
            "result: d/r-1_\u00fc.h5\nnext:   leadline report d/r-1_\u00fc.h5\n");
}

TEST(LinkSummary, OfOneClassOfPairsHasOneColumnOfDetails) {
  LinkResult result = one_slice();
  result.request.verbose = true;
  result.slices[0].between_hosts = {};
  EXPECT_THAT(link_summary(result, ""), AllOf(HasSubstr("all, same host: us"), Not(HasSubstr("between hosts"))));
}

TEST(LinkSummary, OfASweepIsATable) {
  LinkResult result = one_slice();
  result.request.verbose = true;
  result.request.message_sizes_bytes = {1024, 1048576};
  SliceSummary big = result.slices[0];
  big.slice.size_index = 1;
  big.slice.message_size_bytes = 1048576;
  big.all = big.between_hosts = pairs(12, 400000);
  big.slowest = {{.from = 2, .to = 0, .time_ns = 900000, .retest_time_ns = 900000}};
  result.slices.push_back(big);
  result.slow_pair_hosts.insert(result.slow_pair_hosts.end(), {"b", "a"});
  const std::string text = link_summary(result, "run.h5");
  EXPECT_THAT(text, HasSubstr("12 ordered pairs, 3 rounds each\n"));
  EXPECT_THAT(text, HasSubstr("message size  pairs          median us"));
  EXPECT_THAT(text, HasSubstr("         1 KiB  same host          2.000      1.750 to 2.250"));
  EXPECT_THAT(text, HasSubstr("         1 MiB  between hosts    400.000  350.000 to 450.000"));
  // Suspects of all sizes come first, and pairs that are not slow do not come at all.
  EXPECT_LT(text.find("900.000"), text.find("only under load"));
  EXPECT_THAT(text, Not(HasSubstr("not unusual")));
}

TEST(LinkSummary, OfASweepWithoutSlowPairsSaysSo) {
  LinkResult result = one_slice();
  result.request.verbose = true;
  result.slices[0].slowest = {};
  result.slow_pair_hosts.clear();
  result.slices.push_back(result.slices[0]);
  EXPECT_THAT(link_summary(result, ""), HasSubstr("no slow pairs"));
}

TEST(LinkSummary, OfManySlicesStaysReadable) {
  LinkResult result = one_slice();
  result.request.verbose = true;
  for (int repeat = 1; repeat < 200; ++repeat) {
    result.slices.push_back(result.slices[0]);
    result.slices.back().slice.repeat = repeat;
  }
  const std::string text = link_summary(result, "");
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 120);
  EXPECT_THAT(text, HasSubstr("more in the result file"));
}

TEST(LinkSummary, SaysWhatIsUnusualAboutTheRun) {
  LinkResult result = one_slice();
  result.provenance.num_ranks = 1;
  result.provenance.transport.simulated = true;
  result.complete = false;
  result.incomplete_reason = "rank 3 on b is gone";
  result.verified_bytes = 2048;
  EXPECT_THAT(link_summary(result, "-"),
              AllOf(HasSubstr("INCOMPLETE: rank 3 on b is gone"), HasSubstr("1 rank: this is the loop to itself"),
                    HasSubstr("simulated"), HasSubstr("verified: 2.0 KiB arrived as sent"), Not(HasSubstr("result:"))));
}

TEST(LinkSummary, DoesNotRepeatWhatAFindingSays) {
  LinkResult result = one_slice();
  result.provenance.num_ranks = 1;
  result.findings = {{"loop_to_itself", Severity::note, "One rank.", "", ""}};
  EXPECT_THAT(link_summary(result, ""), Not(HasSubstr("this is the loop to itself")));
}

TEST(LinkSummary, OfARunWithoutSlicesIsHeadAndTail) {
  LinkResult result;
  result.incomplete_reason = "nobody came";
  EXPECT_THAT(link_summary(result, "run.h5"), AllOf(HasSubstr("nobody came"), HasSubstr("result: run.h5")));
}

TEST(LinkSummary, PrintsADashForWhatWasNotMeasured) {
  LinkResult result = one_slice();
  result.request.verbose = true;
  result.slices[0].all.time_ns_p99 = NAN;
  result.slices[0].slowest[0].retest_time_ns = 0;
  EXPECT_THAT(link_summary(result, ""), AllOf(HasSubstr("not retested"), Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

TEST(Findings, ComeWithWarningsFirst) {
  EXPECT_EQ(output::findings_text({{"a", Severity::note, "A note.", "", "Advice."},
                                   {"b", Severity::warning, "A warning.", "1 of 2", ""}}),
            "warning: A warning.\n    1 of 2\nnote: A note.\n    Advice.\n");
  EXPECT_EQ(output::findings_text(
                {{"a", Severity::note, "A note.", "", "Advice."}, {"b", Severity::warning, "A warning.", "1 of 2", ""}},
                output::NoteDetail::message_alone),
            "warning: A warning.\n    1 of 2\nnote: A note.\n");
  EXPECT_EQ(output::findings_text({}), "");
}

}  // namespace
}  // namespace leadline::bench::link
