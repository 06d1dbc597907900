// SPDX-License-Identifier: Apache-2.0
// Progress in lines that align and in a bar that stays within its terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/link/text.hpp"

namespace leadline::bench::link::progress_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Screen {
 public:
  output::ProgressOutlet outlet() {
    return {[this](std::string_view text) { writes.emplace_back(text); }, [this] { return width; },
            [this] { return now_s; }};
  }
  std::string text() const {
    std::string all;
    for (const auto& each : writes) all += each;
    return all;
  }

  std::vector<std::string> writes;
  int width = 80;
  double now_s = 0;
};

LinkRequest two_sizes() {
  LinkRequest request;
  request.message_sizes_bytes = {1 << 10, 1 << 20};
  return request;
}

const Slice slice{.repeat = 0, .permutation = -1, .size_index = 0, .message_size_bytes = 1024};

TEST(LineProgress, IsATableOfRounds) {
  Screen screen;
  const auto progress = make_line_progress(Direction::semidirectional, screen.outlet());
  progress->slices_begin({slice}, 1, 2);
  progress->round_done({.round = 1, .num_pairs = 8, .time_ns_min = 1000, .time_ns_mean = 2000, .time_ns_max = 4000}, 3,
                       1);
  progress->round_done({.round = 2, .num_pairs = 4, .time_ns_min = 2000, .time_ns_mean = 5000, .time_ns_max = 8000}, 3,
                       2);
  progress->pair_lost(1, 2, "rank 1: no answer");
  progress->retest_done({.from = 3, .to = 5, .time_ns = 8000, .retest_time_ns = 4000});
  progress->slice_ends({});
  EXPECT_EQ(
      screen.text(),
      "message size 1 KiB (1 of 2)\n"
      "               this round, us          |        this round, MiB/s         |        rounds so far, us         |\n"
      "round        min       mean        max |     at min    at mean     at max |        min       mean        max | "
      "   elapsed       left\n"
      "  1/3      1.000      2.000      4.000 |    976.562    488.281    244.141 |      1.000      2.000      4.000 | "
      "    1.00 s     2.00 s\n"
      "  2/3      2.000      5.000      8.000 |    488.281    195.312    122.070 |      1.000      3.000      8.000 | "
      "    2.00 s     1.00 s\n"
      "left out: rank 1 and rank 2 do not reach each other (rank 1: no answer)\n"
      "retest 3 -> 5: 8.000 us at first, 4.000 us alone\n");
}

TEST(LineProgress, KeepsTheUnitsOfASliceAndStartsAnewWithTheNext) {
  Screen screen;
  const auto progress = make_line_progress(Direction::semidirectional, screen.outlet());
  progress->slices_begin({slice}, 1, 1);
  progress->round_done({.round = 1, .num_pairs = 2, .time_ns_min = 1500, .time_ns_mean = 1500, .time_ns_max = 1500}, 2,
                       1);
  screen.writes.clear();
  progress->round_done({.round = 2, .num_pairs = 2, .time_ns_min = 2.5e6, .time_ns_mean = 2.5e6, .time_ns_max = 2.5e6},
                       2, 2);
  EXPECT_THAT(screen.text(), HasSubstr("2500.000"));
  screen.writes.clear();
  progress->slices_begin({{.repeat = 1, .permutation = 2, .size_index = 0, .message_size_bytes = 1024}}, 2, 2);
  progress->round_done({.round = 1, .num_pairs = 2, .time_ns_min = 2.5e6, .time_ns_mean = 2.5e6, .time_ns_max = 2.5e6},
                       2, 1);
  EXPECT_THAT(screen.text(), AllOf(HasSubstr("this round, ms"), HasSubstr("2.500"), HasSubstr("repeat 2"),
                                   HasSubstr("permutation 3"), ::testing::Not(HasSubstr("0.002"))));
}

TEST(LineProgress, HasColumnsThatAlignForManyRounds) {
  Screen screen;
  const auto progress = make_line_progress(Direction::bidirectional, screen.outlet());
  progress->slices_begin({slice}, 1, 1);
  for (const std::int64_t round : {1, 27999}) {
    progress->round_done({.round = round, .num_pairs = 2, .time_ns_min = 1, .time_ns_mean = 10, .time_ns_max = 99},
                         27999, 1);
  }
  std::istringstream lines(screen.text());
  std::string title, groups, line;
  std::getline(lines, title);
  std::getline(lines, groups);
  while (std::getline(lines, line)) EXPECT_EQ(line.find('|'), groups.find('|')) << line;
}

void many_rounds(Screen& screen, bench::link::Progress& progress, int num_rounds, double round_s) {
  progress.slices_begin({slice}, 1, 1);
  for (int round = 1; round <= num_rounds; ++round) {
    screen.now_s += round_s;
    progress.round_done({.round = round, .num_pairs = 2, .time_ns_min = 1, .time_ns_mean = 2, .time_ns_max = 3},
                        num_rounds, round * round_s);
  }
}

TEST(BarProgress, IsDrawnAtMostTenTimesASecond) {
  Screen screen;
  const auto progress = make_bar_progress(two_sizes(), 7, screen.outlet());
  many_rounds(screen, *progress, 1000, 0.002);
  EXPECT_LE(screen.writes.size(), 22U);
  EXPECT_GE(screen.writes.size(), 15U);
  EXPECT_THAT(screen.writes.back(), HasSubstr("round 1000/1000"));
}

TEST(BarProgress, StaysWithinTheTerminalAndOnItsLine) {
  for (const int width : {1, 10, 30, 50, 80, 200}) {
    Screen screen;
    screen.width = width;
    const auto progress = make_bar_progress(two_sizes(), 7, screen.outlet());
    many_rounds(screen, *progress, 7, 1);
    const std::string erase = "\r\x1b[K";
    for (const std::string& write : screen.writes) {
      EXPECT_EQ(write.find(erase), 0U);
      EXPECT_LE(write.size() - erase.size(), static_cast<std::size_t>(std::max(width - 1, 1)));
      EXPECT_EQ(write.find('\n'), std::string::npos);
    }
  }
}

TEST(BarProgress, ShowsShareAndTimeLeftAndVanishes) {
  Screen screen;
  const auto progress = make_bar_progress(two_sizes(), 7, screen.outlet());
  many_rounds(screen, *progress, 4, 1);
  EXPECT_THAT(screen.writes[2], AllOf(HasSubstr("1 KiB round 2/4"), HasSubstr("#."), HasSubstr("2.00 s left")));
  progress->slice_ends({});
  EXPECT_EQ(screen.writes.back(), "\r\x1b[K");
}

TEST(BarProgress, IsThereBeforeTheFirstRoundEnds) {
  Screen screen;
  const auto progress = make_bar_progress(two_sizes(), 7, screen.outlet());
  progress->slices_begin({slice}, 1, 2);
  EXPECT_THAT(screen.text(), HasSubstr("1 KiB (1 of 2) round 0/7"));
}

/// The lines that a run of two sizes writes, of so many rounds each.
std::vector<std::string> lines_of_marks(int num_rounds) {
  Screen screen;
  const auto progress = make_mark_progress(two_sizes(), screen.outlet());
  for (int number = 1; number <= 2; ++number) {
    progress->slices_begin({{.size_index = number - 1, .message_size_bytes = number == 1 ? 1024U : 1048576U}}, number,
                           2);
    for (int round = 1; round <= num_rounds; ++round) {
      screen.now_s += 0.5;
      progress->round_done({.round = round, .num_pairs = 2, .time_ns_min = 1, .time_ns_mean = 2, .time_ns_max = 3},
                           num_rounds, 0.5 * round);
    }
    progress->retest_done({});
    progress->slice_ends({});
  }
  return screen.writes;
}

TEST(MarkProgress, HasALineAtEachMarkHoweverManyRounds) {
  const std::vector<std::string> lines = lines_of_marks(10000);
  ASSERT_EQ(lines.size(), 14U);
  const char* const begins[] = {"  0 % ", "  1 % ", "  2 % ", "  5 % ", " 10 % ", " 20 % ", " 30 % ",
                                " 40 % ", " 50 % ", " 60 % ", " 70 % ", " 80 % ", " 90 % ", "100 % "};
  for (std::size_t index = 0; index < lines.size(); ++index) EXPECT_EQ(lines[index].find(begins[index]), 0U);
  EXPECT_EQ(lines.back(), "100 %  1 MiB (2 of 2), round 10000/10000 after 2 h 47 min, 0.00 s left, mean 2.000 ns\n");
}

TEST(MarkProgress, HasNoMoreLinesThanRounds) {
  const std::vector<std::string> lines = lines_of_marks(2);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines.back(), HasSubstr("round 2/2"));
}

TEST(BarProgress, GivesWayToALostPair) {
  Screen screen;
  const auto progress = make_bar_progress(two_sizes(), 7, screen.outlet());
  many_rounds(screen, *progress, 4, 1);
  progress->pair_lost(1, 2, "w");
  EXPECT_EQ(screen.writes[screen.writes.size() - 2], "\r\x1b[K");
  EXPECT_EQ(screen.writes.back(), "left out: rank 1 and rank 2 do not reach each other (w)\n");
}

TEST(MakeProgress, IsSilentWhereAskedFor) {
  LinkRequest request;
  request.quiet = true;
  ::testing::internal::CaptureStderr();
  const auto progress = make_progress(request, 1);
  progress->slices_begin({slice}, 1, 1);
  progress->round_done({}, 1, 1);
  progress->retest_done({});
  progress->slice_ends({});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
}

TEST(MakeProgress, WritesLinesWhereStandardErrorIsNoTerminal) {
  ::testing::internal::CaptureStderr();
  const auto progress = make_progress({}, 1);
  progress->slices_begin({slice}, 1, 1);
  progress->round_done({.round = 1, .num_pairs = 2, .time_ns_min = 1, .time_ns_mean = 2, .time_ns_max = 3}, 1, 1);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("1/1"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace leadline::bench::link::progress_test
