// SPDX-License-Identifier: Apache-2.0
// The lines of LinkTest 1.2: with the numbers of a run of it come its lines, to the blank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compat/mpilinktest/text.hpp"

namespace leadline::compat::mpilinktest {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t mebi = 1 << 20;

bench::link::LinkRequest example() {
  bench::link::LinkRequest request;
  request.message_sizes_bytes = {mebi};
  request.num_messages = 10;
  request.num_warmup = 2;
  request.retest = 8;
  request.format = ResultFormat::sion;
  return request;
}

TEST(MpilinktestText, HasItsArguments) {
  EXPECT_EQ(arguments_text(example(), 8, 32),
            "\n\n----------------------------------------------------------\n"
            "linktest: Number of MPI-Task:                 8\n"
            "linktest: Current Rank MPI-Task:              0\n"
            "linktest: Message length:               1048576 Bytes\n"
            "linktest: Message length:             1024.0000 KBytes\n"
            "linktest: Number of Iteration:               10\n"
            "linktest: Number of Iter. (Warmup):           2\n"
            "linktest: alltoall:                  0\n"
            "linktest: sleeptime:                 0 us\n"
            "linktest: collectpnum:               32\n"
            "linktest: mixing pe order:           0\n"
            "linktest: serial test:               0\n"
            "linktest: control wtime:             -1.000000\n"
            "linktest: write protocol (SION):     1\n"
            "linktest:       par I/O:             1\n"
            "linktest: max stest:                 8\n"
            "----------------------------------------------------------\n"
            "\n\nStarting Test of all connections:\n--------------------------------\n");
  bench::link::LinkRequest other = example();
  other.min_time_s = 90;
  other.shuffle_ranks = 1;
  other.row_path = RowPath::funnel;
  const std::string text = arguments_text(other, 8, 4);
  EXPECT_THAT(text, HasSubstr("control wtime:             90.000000\n"));
  EXPECT_THAT(text, HasSubstr("mixing pe order:           1\n"));
  EXPECT_THAT(text, HasSubstr("par I/O:             0\n"));
  EXPECT_THAT(text, HasSubstr("collectpnum:               4\n"));
}

TEST(MpilinktestText, TellsOfPhases) {
  EXPECT_EQ(phase_line("[first sync]", 0.0306915), "timings[000] [first sync]                   t=  0.030692s\n");
}

TEST(MpilinktestText, HasItsStepLines) {
  EXPECT_EQ(
      parallel_step_line(1, {8, 249358, 406964, 516618}, std::nullopt, mebi),
      " Parallel PingPong for step     1:   avg=   406.964us (2457.22 MB/s) min=   249.358us (4010.30 MB/s) max=   "
      "516.618us (1935.67 MB/s)\n");
  EXPECT_THAT(parallel_step_line(1, {8, 249358, 406964, 516618}, Spread{8, 34912, 100000, 461867}, mebi),
              testing::EndsWith("(1935.67 MB/s) [ alltoall min=    34.912us max=   461.867us ]\n"));
}

TEST(MpilinktestText, HasItsSerialLines) {
  EXPECT_EQ(serial_step_title(1), " Serial   PingPong for step     1: \n");
  EXPECT_EQ(serial_pair_line(1, 2, 2513.73, 1), "      1->     2:     2.51373us (   0.38 MB/s) (l=1)\n");
  EXPECT_THAT(serial_step_end({8, 2000, 2061, 2500}, std::nullopt, 1),
              StartsWith("  avg=     2.061us (   0.46 MB/s) min=     2.000us"));
}

TEST(MpilinktestText, CountsTheStepsThatAreLeft) {
  const std::string text = running_summary({8, 5679.95, 6000, 7000}, {1, 3, 0.000446}, 1024);
  EXPECT_THAT(text, StartsWith("analyse summary: min.    5.679950us ( 171.93 MB/s) max."));
  // LinkTest 1.2 said 3 here, and so its estimate was half as much again.
  EXPECT_THAT(text, HasSubstr("timing summary:  1 steps used   0.000446s (  0.000446s/step),        to do: 2 steps,"
                              "                   estimate time:   0.000892s\n\n"));
}

TEST(MpilinktestText, HasItsResults) {
  const std::string text = results(Part::all_steps, {56, 233209.75015, 511523.37125, 1556958.42113}, 1, mebi);
  EXPECT_EQ(text,
            "RESULT: Min Time:                    233.20975015us (4287.99 MB/s) [iter  1 ]\n"
            "RESULT: Max Time:                   1556.95842113us ( 642.28 MB/s) [iter  1 ]\n"
            "RESULT: Avg Time:                    511.52337125us (1954.94 MB/s) [iter  1 ]\n");
  EXPECT_THAT(results(Part::retest, {8, 1, 470146.16393, 1}, 1, mebi),
              HasSubstr("RESULT: Avg Time Stest:              470.14616393us (2127.00 MB/s) [iter  1 ]\n"));
  EXPECT_EQ(slow_pair_line(0, {1, 5, 1556958.42113, 708335.7}, mebi),
            "      0: PINGPONG      1  <->       5:  1st:  1556.9584us ( 642.28 MB/s)    2nd:   708.3357us (1411.76 "
            "MB/s)\n");
  EXPECT_THAT(slow_pair_line(0, {1, 5, 1556958.42113, 0}, mebi), HasSubstr("2nd: not measured\n"));
}

TEST(MpilinktestText, TellsOfFilesAndTasks) {
  EXPECT_EQ(written_line("pingpong_results_bin.sion", 3392),
            "OUTPUT: writing data to file pingpong_results_bin.sion      (    0.0032 MB)\n");
  EXPECT_EQ(task_line(3, "node01", 15099494), "task[000003] on node01 (3,0,0,0) mem=   14.4000 MB\n");
}

struct Recorded {
  std::string out;
  Outlet outlet() {
    return {[this](const std::string& text) { out += text; }, [](const std::string&) {}};
  }
};

bench::link::LinkResult so_far_of(const bench::link::LinkRequest& request, int num_ranks) {
  bench::link::LinkResult so_far;
  so_far.request = request;
  so_far.provenance.num_ranks = num_ranks;
  return so_far;
}

bench::link::RoundNumbers serial_round(std::int64_t round, int first, int second, double time_ns) {
  bench::link::RoundNumbers numbers{.round = round,
                                    .number = round,
                                    .num_pairs = 2,
                                    .time_ns_min = time_ns,
                                    .time_ns_mean = time_ns,
                                    .time_ns_max = time_ns};
  numbers.only_pair = bench::link::SerialPair{first, second, time_ns, time_ns};
  return numbers;
}

TEST(MpilinktestProgress, MakesStepsOutOfSerialRounds) {
  bench::link::LinkRequest request = example();
  request.serial = true;
  Recorded recorded;
  const auto progress = make_progress(so_far_of(request, 4), 32, recorded.outlet());
  progress->slices_begin({{0, -1, 0, 1}}, 1, 1);
  progress->round_done(serial_round(1, 0, 3, 1000), 6, 1);
  progress->round_done(serial_round(2, 1, 2, 3000), 6, 2);
  progress->round_done(serial_round(3, 0, 2, 1000), 6, 3);
  EXPECT_EQ(recorded.out,
            " Serial   PingPong for step     1: \n"
            "      0->     3:     1.00000us (   0.95 MB/s) (l=0)\n"
            "      3->     0:     1.00000us (   0.95 MB/s) (l=3)\n"
            "      1->     2:     3.00000us (   0.32 MB/s) (l=1)\n"
            "      2->     1:     3.00000us (   0.32 MB/s) (l=2)\n"
            "  avg=     2.000us (   0.48 MB/s) min=     1.000us (   0.95 MB/s) max=     3.000us (   0.32 MB/s)\n"
            " Serial   PingPong for step     2: \n"
            "      0->     2:     1.00000us (   0.95 MB/s) (l=0)\n"
            "      2->     0:     1.00000us (   0.95 MB/s) (l=2)\n");
}

TEST(MpilinktestProgress, SumsUpAfterSoManySteps) {
  Recorded recorded;
  const auto progress = make_progress(so_far_of(example(), 5), 2, recorded.outlet());
  progress->slices_begin({{0, -1, 0, mebi}}, 1, 1);
  for (std::int64_t round = 1; round <= 5; ++round) {
    progress->round_done({.round = round, .num_pairs = 4, .time_ns_min = 1, .time_ns_mean = 1, .time_ns_max = 1}, 5,
                         static_cast<double>(round));
  }
  EXPECT_THAT(recorded.out, HasSubstr("timing summary:  2 steps used   2.000000s"));
  EXPECT_THAT(recorded.out, HasSubstr("timing summary:  4 steps used   4.000000s"));
  EXPECT_THAT(recorded.out, HasSubstr("to do: 1 steps"));
  EXPECT_THAT(recorded.out, Not(HasSubstr(" 5 steps used")));
}

TEST(MpilinktestProgress, AveragesOverWhatWasRetested) {
  Recorded recorded;
  const auto progress = make_progress(so_far_of(example(), 4), 32, recorded.outlet());
  progress->slices_begin({{0, -1, 0, 1}}, 1, 1);
  progress->round_done({.round = 1, .num_pairs = 4, .time_ns_min = 1, .time_ns_mean = 1, .time_ns_max = 1}, 1, 1);
  progress->retest_done({0, 1, 4000, 3263});
  progress->slice_ends({});
  EXPECT_THAT(recorded.out, HasSubstr("RESULT: Avg Time Stest:                3.26300000us"));
}

TEST(MpilinktestProgress, LeavesOutTheRetestWhereThereWasNone) {
  Recorded recorded;
  const auto progress = make_progress(so_far_of(example(), 4), 32, recorded.outlet());
  progress->slices_begin({{0, -1, 0, 1}}, 1, 1);
  progress->round_done({.round = 1, .num_pairs = 4, .time_ns_min = 1, .time_ns_mean = 1, .time_ns_max = 1}, 1, 1);
  progress->slice_ends({});
  EXPECT_THAT(recorded.out, HasSubstr("timings[000] [work]                         t=  1.000000s\n\n\nRESULT: Min"));
  EXPECT_THAT(recorded.out, HasSubstr("RESULT: Avg Time:"));
  EXPECT_THAT(recorded.out, Not(HasSubstr("Stest")));
}

}  // namespace
}  // namespace leadline::compat::mpilinktest
