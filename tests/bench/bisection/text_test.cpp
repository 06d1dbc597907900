// SPDX-License-Identifier: Apache-2.0
// Progress and plan of a bisection test.
#include "bench/bisection/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/bisection/made_up.hpp"
#include "support/screen.hpp"

namespace leadline::output {
namespace {

using test::gibi;
using test::made_up_named;
using test::made_up_pattern;
using test::mebi;
using test::Screen;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// After so many patterns: 4 GiB/s and this relative half-width.
bench::bisection::Interval so_far(std::uint64_t num, double width) { return {num, 4 * gibi, 4 * gibi * width}; }

bench::bisection::BisectionRequest request_of(std::vector<std::uint64_t> sizes) {
  bench::bisection::BisectionRequest request;
  request.message_sizes_bytes = std::move(sizes);
  request.time_limit_s = 0;
  return request;
}

TEST(BisectionProgress, IsALineNowAndThen) {
  Screen screen;
  const auto progress = bench::bisection::make_bisection_lines(request_of({mebi}), 1, screen.outlet());
  progress->size_begins(0, mebi);
  for (std::uint64_t number = 0; number < 30; ++number) {
    const bench::bisection::PatternPosition position =
        made_up_pattern(bench::bisection::PatternKind::random, number, 4).position;
    progress->pattern_begins(position, {});
    screen.now_s = 0.1 * static_cast<double>(number);
    progress->pattern_ends(made_up_pattern(bench::bisection::PatternKind::random, number, 4), so_far(number + 1, 0.1),
                           screen.now_s + 0.1);
  }
  progress->pattern_ends(made_up_named(30, 0, "halves", 3), so_far(30, 0.1), 3.1);
  progress->retest_done({0, 4, 1, 5, 4e5, 2e5, false});
  progress->size_ends({});
  EXPECT_EQ(screen.text,
            "message size 1 MiB\n"
            "pattern                        GiB/s   eBB so far        ±     elapsed        left\n"
            "      1  random                4.000        4.000   10.0 %      0.10 s      10.0 s\n"
            "     11  random                4.000        4.000   10.0 %      1.10 s      99.0 s\n"
            "     21  random                4.000        4.000   10.0 %      2.10 s      98.0 s\n"
            "     31  halves                3.000        4.000   10.0 %      3.10 s      0.00 s\n"
            "retest 1 -> 5: 400.0 us with all others, 200.0 us alone\n");
}

TEST(BisectionProgress, InATerminalVanishes) {
  Screen screen;
  {
    const auto progress = bench::bisection::make_bisection_bar(request_of({mebi}), 0, screen.outlet());
    progress->size_begins(0, mebi);
    EXPECT_THAT(screen.text, HasSubstr("1 MiB [..."));
    for (std::uint64_t number = 0; number < 5; ++number) {
      screen.now_s = static_cast<double>(number + 1);
      progress->pattern_ends(made_up_pattern(bench::bisection::PatternKind::random, number, 4),
                             so_far(number + 1, 0.02), screen.now_s);
    }
    EXPECT_THAT(screen.text, AllOf(HasSubstr("1 MiB random 5 ["), HasSubstr("15.0 s left, eBB 4.000 GiB/s to 2.0 %")));
  }
  EXPECT_TRUE(screen.text.ends_with("\r\x1b[K"));
  EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\n'), 0);
}

TEST(BisectionRemaining, GoesByTheIntervalSoFar) {
  bench::bisection::BisectionRemaining remaining(request_of({mebi}), 0);
  remaining.size_begins(0);
  for (std::uint64_t number = 0; number < 100; ++number) {
    remaining.pattern_ends(made_up_pattern(bench::bisection::PatternKind::random, number, 4), so_far(number + 1, 0.02),
                           0.1 * static_cast<double>(number + 1));
  }
  EXPECT_EQ(remaining.num_patterns(), 400u) << "twice as narrow with four times as many";
  EXPECT_NEAR(remaining.left_s(), 30, 1e-9);
}

TEST(BisectionRemaining, CountsNamedPatternsAndEndsWithTheTimeLimit) {
  bench::bisection::BisectionRequest request = request_of({mebi});
  request.time_limit_s = 15;
  request.repeat = 2;
  bench::bisection::BisectionRemaining remaining(request, 3);
  remaining.size_begins(0);
  remaining.pattern_ends(made_up_pattern(bench::bisection::PatternKind::random, 0, 4), {}, 1);
  EXPECT_NEAR(remaining.left_s(), 14, 1e-9);
  EXPECT_EQ(remaining.num_patterns(), 1006u);
  remaining.pattern_ends(made_up_named(1, 0, "halves", 4), {}, 2);
  EXPECT_NEAR(remaining.left_s(), 5, 1e-9) << "behind a named pattern there are no more random ones";
}

TEST(BisectionRemaining, ExpectsLargerMessagesToTakeLonger) {
  bench::bisection::BisectionRequest request = request_of({mebi, 8 * mebi});
  request.rounds = 10;
  bench::bisection::BisectionRemaining remaining(request, 0);
  remaining.size_begins(0);
  remaining.pattern_ends(made_up_pattern(bench::bisection::PatternKind::random, 0, 4), {}, 1);
  EXPECT_GT(remaining.left_s(), 9 + 5 * 10);
  remaining.size_begins(1);
  remaining.pattern_ends(made_up_pattern(bench::bisection::PatternKind::random, 0, 4, 1), {}, 9);
  EXPECT_NEAR(remaining.left_s(), 9 * 8, 1e-9) << "at the pace of the second size";
}

class Plans : public testing::Test {
 protected:
  std::string text(const bench::bisection::BisectionRequest& request, int num_ranks, int ranks_per_host) {
    host_of_.clear();
    for (int rank = 0; rank < num_ranks; ++rank) host_of_.push_back(static_cast<std::uint32_t>(rank / ranks_per_host));
    return bisection_plan_text(request, bench::bisection::plan(request, {num_ranks, ranks_per_host, host_of_}));
  }

 private:
  std::vector<std::uint32_t> host_of_;
};

TEST_F(Plans, ShowPatternsAndCost) {
  bench::bisection::BisectionRequest request;
  request.message_sizes_bytes = {1024, mebi};
  request.patterns = {"random", "halves", "shift:1"};
  request.num_worst_steps = 5;
  const std::string plan = text(request, 6, 2);
  EXPECT_THAT(plan,
              HasSubstr("Bisection test of 6 ranks on 3 hosts\n"
                        "Random patterns: up to 1000 of each message size, seed 1, pairs between hosts, until the "
                        "95 % interval is ± 1 %, for 2 min 00 s at most\n"
                        "Named patterns: 2, once each\n"
                        "Search for bad patterns: 5 steps\n"
                        "Message sizes: 1 KiB, 1 MiB\n"
                        "Each pattern: 20 timed exchanges after 2 for warm-up; behind each random one 1 pair "
                        "alone\n"
                        "Patterns:\n"
                        "  random 0: 0-"));
  EXPECT_THAT(plan,
              AllOf(HasSubstr("\n  random 2: 0-"), Not(HasSubstr("random 3:")), HasSubstr("  halves: 0-3 1-4 2-5\n"),
                    HasSubstr("  shift:1: 0>1 1>2 2>3 3>4 4>5 5>0\n"), HasSubstr("Estimate (if a message"),
                    HasSubstr("  time "), HasSubstr("  memory "), HasSubstr("  file ")));
}

TEST_F(Plans, OfAnOddNumberSayThatOneRests) {
  bench::bisection::BisectionRequest request;
  request.active_ranks_per_host = 1;
  request.precision = 0;
  request.time_limit_s = 0;
  EXPECT_THAT(text(request, 6, 2),
              AllOf(HasSubstr("on 3 hosts, of which 3 take part; in each random pattern one rests\n"),
                    HasSubstr("pairs between hosts\n")));
}

TEST_F(Plans, OfALargeRunAreShort) {
  bench::bisection::BisectionRequest request;
  request.patterns = {"random", "shift-each"};
  const std::string plan = text(request, 1000, 4);
  EXPECT_LT(std::count(plan.begin(), plan.end(), '\n'), 60);
  EXPECT_THAT(plan, AllOf(HasSubstr("  random 0: 1000 connections, the first from rank 0 to "),
                          HasSubstr("  shift:1: 1000 connections, the first from rank 0 to 1\n"),
                          HasSubstr("... and 959 more")));
}

}  // namespace
}  // namespace leadline::output
