// SPDX-License-Identifier: Apache-2.0
// The lines of LinkTest 2.x: with the numbers of its own documents come its own lines, blanks aside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "compat/linktest/text.hpp"

namespace leadline::compat::linktest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Scale kibi{1024, Direction::semidirectional};

/// LinkTest's documents show its lines with every run of blanks as one.
std::string collapsed(const std::string& text) { return std::regex_replace(text, std::regex(" +"), " "); }

bench::link::LinkRequest example() {
  bench::link::LinkRequest request;
  request.transport = "mpi";
  request.message_sizes_bytes = {1024};
  request.num_messages = 1000;
  request.num_warmup = 10;
  request.retest = 2;
  request.format = ResultFormat::sion;
  request.row_path = RowPath::funnel;
  request.output = "linktest_mpi_2nx4c.sion";
  return request;
}

TEST(LinktestText, BoxesTheArguments) {
  EXPECT_EQ(arguments_box(example()),
            "-------------------- LinkTest Args -------------------------\n"
            "Virtual-Cluster Implementation: mpi\n"
            "Message length: 1024 B\n"
            "Number of Messages: 1000\n"
            "Number of Messages. (Warmup): 10\n"
            "Communication Pattern: Semidirectional End to End\n"
            "use gpus: No\n"
            "mixing pe order: No\n"
            "serial test only: No\n"
            "max serial retest: 2\n"
            "write protocol (SION): Yes, funneled\n"
            "output file: \"linktest_mpi_2nx4c.sion\"\n"
            "------------------------------------------------------------\n");
}

TEST(LinktestText, BoxesWhatElseIsInUse) {
  bench::link::LinkRequest request = example();
  request.direction = Direction::bidirectional;
  request.num_messages = 2000;
  request.num_warmup = 20;
  request.bisection = request.between_hosts = request.serial = request.shuffle_rounds = request.check_buffers = true;
  request.all_to_all = bench::link::AllToAll::around;
  request.shuffle_rounds_seed = 9876543210;
  request.shuffle_ranks = 3;
  request.shuffle_ranks_seed = 29309775;
  request.num_buffers = 4;
  request.fill = Fill::mersenne;
  request.fill_seed = 5;
  request.repeat = 2;
  request.min_time_s = 1.5;
  request.allocator = "cuda";
  request.row_path = RowPath::automatic;
  const std::string box = arguments_box(request);
  for (const char* line :
       {"Number of Messages: 1000\n", "Number of Messages. (Warmup): 10\n", "Pattern: Bidirectional End to End\n",
        "use gpus: Yes\n", "mixing pe order: Yes\n", "serial test only: Yes\n", "bisection test: Yes\n",
        "group processes by hostname: Yes\n", "all-to-all test: Yes\n", "randomize steps: Yes, seed 9876543210\n",
        "randomized task orders: 3, seed 29309775\n", "multi buffer: Yes, 4\n", "randomize buffers: Yes, seed 5\n",
        "check buffers: Yes\n", "min. iterations: 2\n", "min. runtime: 1.5 s\n", "(SION): Yes, parallel\n"}) {
    EXPECT_THAT(box, HasSubstr(line));
  }
  request.format = ResultFormat::none;
  request.direction = Direction::unidirectional;
  EXPECT_THAT(arguments_box(request), HasSubstr("Unidirectional End to End\n"));
  EXPECT_THAT(arguments_box(request), HasSubstr("write protocol (SION): No\n-----"));
}

TEST(LinktestText, HasItsStepLines) {
  EXPECT_EQ(collapsed(step_line(example(), 1, {8, 3240.8049, 3419.769, 4208.619}, std::nullopt, kibi)),
            "Parallel PingPong for step 1: avg: 3.41977 us ( 285.5639 MiB/s) min: 3.24080 us ( 301.3333 MiB/s) "
            "max: 4.20862 us ( 232.0387 MiB/s)\n");
  EXPECT_EQ(collapsed(step_line(example(), 2, {8, 438.452, 2072.7575, 3875.948}, std::nullopt, kibi)),
            "Parallel PingPong for step 2: avg: 2.07276 us ( 471.1417 MiB/s) min: 438.45200 ns ( 2.1751 GiB/s) "
            "max: 3.87595 us ( 251.9545 MiB/s)\n");
  EXPECT_THAT(step_line(example(), 1, {8, 3240.8049, 3419.769, 4208.619}, std::nullopt, kibi),
              HasSubstr("avg:    3.41977 us (  285.5639 MiB/s)"));
  bench::link::LinkRequest serial = example();
  serial.serial = true;
  EXPECT_THAT(step_line(serial, 7, {2, 1000, 1000, 1000}, std::nullopt, kibi),
              testing::StartsWith("Serial PingPong for step 7: avg:    1.00000 us"));
}

TEST(LinktestText, SumsUpTheStepsSoFar) {
  Times so_far;
  so_far.add({8, 3240.8049, 3419.769, 4208.619});
  EXPECT_EQ(collapsed(analyse_line(so_far, std::nullopt, kibi)),
            "Analyse Summary: min. 3.2408 us ( 301.333 MiB/s) max. 4.2086 us ( 232.039 MiB/s) avg. 3.4198 us ( "
            "285.564 MiB/s)\n");
  so_far.add({8, 438.452, 2072.7575, 3875.948});
  EXPECT_EQ(collapsed(analyse_line(so_far, std::nullopt, kibi)),
            "Analyse Summary: min. 438.4520 ns ( 2.175 GiB/s) max. 4.2086 us ( 232.039 MiB/s) avg. 2.7463 us ( "
            "355.597 MiB/s)\n");
  EXPECT_EQ(collapsed(timing_line({1, 7, 33.0557e-3})),
            "Timing Summary: 1 step(s) required 33.05570 ms ( 33.05570 ms/step). 6 step(s) remain. Estimated time "
            "remaining: 198.33420 ms\n");
}

TEST(LinktestText, HasItsResults) {
  EXPECT_EQ(collapsed(timing_results(1, {56, 433.63310397, 2251.20053, 4626.29204}, std::nullopt, kibi)),
            "Linktest Timing Results - Iteration 1:\n"
            "RESULT: Min Time: 433.63310397 ns ( 2.199 GiB/s)\n"
            "RESULT: Max Time: 4.62629204 us ( 211.090 MiB/s)\n"
            "RESULT: Avg Time: 2.25120053 us ( 433.796 MiB/s)\n");
  EXPECT_EQ(collapsed(slow_pair_line(0, {3, 6, 4626.29204, 3897.8185}, kibi)),
            "0: PINGPONG 3 <-> 6: 1st: 4.62629 us ( 211.0897 MiB/s) 2nd: 3.89782 us ( 250.5408 MiB/s)\n");
  EXPECT_THAT(slow_pair_line(1, {3, 6, 4626.29, 0}, kibi), HasSubstr("2nd: not measured\n"));
  Times retests;
  retests.add(times_of(3897.81850));
  retests.add(times_of(3174.07004));
  EXPECT_EQ(collapsed(slow_pair_results(1, retests, kibi)),
            "Linktest Slow-Pairs Results - Iteration 1:\n"
            "RESULT: Min Time: 3.17407004 us ( 307.669 MiB/s)\n"
            "RESULT: Max Time: 3.89781850 us ( 250.541 MiB/s)\n"
            "RESULT: Avg Time: 3.53594427 us ( 276.182 MiB/s)\n");
}

TEST(LinktestText, CountsBothDirectionsOfABidirectionalPair) {
  const Scale both{1024, Direction::bidirectional};
  EXPECT_THAT(collapsed(slow_pair_line(0, {0, 1, 1024, 1024}, both)), HasSubstr("1.02400 us ( 1.8626 GiB/s)"));
}

TEST(LinktestText, AddsUpTheBandwidthsAcrossTheCut) {
  // Two pairs of 1 and 3 GiB/s make 4 GiB/s across the cut; two like the slower one 2, like the faster one 6.
  constexpr double gibi = 1 << 30;
  BisectionSoFar so_far;
  so_far.add(4 * gibi);
  so_far.add(2 * gibi);
  EXPECT_EQ(so_far.min, 2 * gibi);
  EXPECT_EQ(so_far.max, 4 * gibi);
  EXPECT_EQ(so_far.mean, 3 * gibi);
  EXPECT_THAT(collapsed(step_line(example(), 1, {4, 1000, 1000, 1000}, Spread{2, 2 * gibi, 4 * gibi, 6 * gibi}, kibi)),
              testing::EndsWith(") min. bisection bw: 2.0000 GiB/s max. bisection bw: 6.0000 GiB/s avg. bisection bw: "
                                "4.0000 GiB/s\n"));
  EXPECT_THAT(collapsed(analyse_line({4, 1000, 1000, 1000}, so_far, kibi)),
              testing::EndsWith(") min. bisection bw: 2.0000 GiB/s max. bisection bw: 4.0000 GiB/s avg. bisection bw: "
                                "3.0000 GiB/s\n"));
  EXPECT_THAT(collapsed(timing_results(1, {4, 1000, 1000, 1000}, so_far, kibi)),
              testing::EndsWith("RESULT: Min Bisection Bandwidth: 2.0000 GiB/s\n"
                                "RESULT: Max Bisection Bandwidth: 4.0000 GiB/s\n"
                                "RESULT: Avg Bisection Bandwidth: 3.0000 GiB/s\n"));
}

TEST(LinktestText, ScalesItsUnits) {
  const Scale byte{1, Direction::semidirectional};
  EXPECT_THAT(collapsed(slow_pair_line(0, {0, 1, 2.5e9, 12}, byte)),
              HasSubstr("1st: 2.50000 s ( 0.4000 B/s) 2nd: 12.00000 ns ( 79.4729 MiB/s)"));
  const Scale nothing{0, Direction::semidirectional};
  EXPECT_THAT(collapsed(slow_pair_line(0, {0, 1, 1e6, 1e6}, nothing)), HasSubstr("1.00000 ms ( 0.0000 B/s)"));
}

TEST(LinktestText, TellsOfAllToAllWhereThereWasOne) {
  EXPECT_EQ(all_to_all_results(1, {}), "");
  const bench::link::AllToAllSummary summary{1024, {8, 1000, 2000, 3000}, {8, 2000, 3000, 4000}, {}};
  EXPECT_EQ(collapsed(all_to_all_results(2, summary)),
            "Linktest All-to-All Results - Iteration 2:\n"
            "All-to-All before the test: avg: 2.00000 us min: 1.00000 us max: 3.00000 us\n"
            "All-to-All after the test: avg: 3.00000 us min: 2.00000 us max: 4.00000 us\n");
}

TEST(LinktestText, HasItsMonitoringLines) {
  EXPECT_EQ(collapsed(task_line(0, "jrc0734.jureca", 0, 149084)),
            "task[000000] on jrc0734.jureca ( 0) mem= 145.5898 kiB\n");
  EXPECT_EQ(collapsed(phase_line(bench::link::Phase::joining, 30.69149e-3)),
            "timings[000] [first sync] t= 30.69149 ms\n");
  EXPECT_EQ(written_line(3904), "[sionwrite] 3904 B\n");
}

struct Recorded {
  std::string out, err;
  Outlet outlet() {
    return {[this](const std::string& text) { out += text; }, [this](const std::string& text) { err += text; }};
  }
};

std::vector<std::string> first_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) words.push_back(line.substr(0, line.find_first_of(":.")));
  return words;
}

bench::link::LinkResult so_far_of(const bench::link::LinkRequest& request) {
  bench::link::LinkResult so_far;
  so_far.request = request;
  so_far.provenance.num_ranks = 4;
  return so_far;
}

TEST(LinktestProgress, PutsTheLinesInOrder) {
  Recorded recorded;
  const auto progress = make_progress(so_far_of(example()), recorded.outlet());
  EXPECT_THAT(recorded.out, testing::StartsWith("-------------------- LinkTest Args"));
  recorded.out.clear();
  progress->phase_done(bench::link::Phase::joining, 0.1);
  progress->slices_begin({{0, -1, 0, 1024}}, 1, 1);
  progress->round_done({.round = 1, .num_pairs = 4, .time_ns_min = 1, .time_ns_mean = 2, .time_ns_max = 3}, 2, 1);
  progress->round_done({.round = 2, .num_pairs = 4, .time_ns_min = 1, .time_ns_mean = 2, .time_ns_max = 3}, 2, 2);
  progress->retest_done({0, 1, 3, 2});
  progress->retest_done({1, 0, 2, 1});
  progress->slice_ends({});
  EXPECT_THAT(
      first_words(recorded.out),
      ElementsAre("Starting Test of all connections", "---------------------------------",
                  "Parallel PingPong for step 1", "Analyse Summary", "Timing Summary", "Parallel PingPong for step 2",
                  "Analyse Summary", "Timing Summary", "Linktest Timing Results - Iteration 1", "RESULT", "RESULT",
                  "RESULT", "0", "1", "Linktest Slow-Pairs Results - Iteration 1", "RESULT", "RESULT", "RESULT"));
  EXPECT_THAT(recorded.err, HasSubstr("[first sync]"));
}

TEST(LinktestProgress, StartsAnewWithEveryIteration) {
  bench::link::LinkRequest request = example();
  request.shuffle_ranks = 2;
  Recorded recorded;
  const auto progress = make_progress(so_far_of(request), recorded.outlet());
  const auto iteration = [&](int repeat, double time_ns) {
    progress->slices_begin({{repeat, repeat, 0, 1024}}, repeat + 1, 2);
    progress->round_done(
        {.round = 1, .num_pairs = 2, .time_ns_min = time_ns, .time_ns_mean = time_ns, .time_ns_max = time_ns}, 1, 1);
    progress->slice_ends({});
  };
  iteration(0, 1);
  recorded.out.clear();
  iteration(1, 8);
  EXPECT_THAT(recorded.out, testing::StartsWith("Random task order 2 of 2:\nStarting Test"));
  EXPECT_THAT(collapsed(recorded.out), HasSubstr("Iteration 2:\nRESULT: Min Time: 8.00000000 ns"));
  EXPECT_THAT(recorded.out, Not(HasSubstr("Slow-Pairs"))) << "nothing was retested";
}

TEST(LinktestProgress, SpeaksOfFilesOnlyWhereThereIsOne) {
  bench::link::LinkRequest request = example();
  request.format = ResultFormat::none;
  Recorded recorded;
  const auto progress = make_progress(so_far_of(request), recorded.outlet());
  progress->phase_done(bench::link::Phase::writing, 0);
  progress->phase_done(bench::link::Phase::everything, 1);
  EXPECT_EQ(collapsed(recorded.err), "timings[000] [all] t= 1.00000 s\n");
}

}  // namespace
}  // namespace leadline::compat::linktest
