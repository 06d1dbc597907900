// SPDX-License-Identifier: Apache-2.0
// Netgauge's lines: with the times that the numbers of its page stand for come the page's numbers, to the last digit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "compat/netgauge/text.hpp"

namespace leadline::compat::netgauge {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t mebi = 1 << 20;
constexpr double num_exchanges = 20;

/// Of one exchange, where the page shows those of all.
double exchange_ns(double shown_us) { return 1e3 * shown_us / num_exchanges; }

double bytes_per_s(double shown_us) { return static_cast<double>(mebi) * 1e9 / exchange_ns(shown_us); }

/// Times and bandwidths of the page's first example.
constexpr std::array<double, 10> page_us{65525.545105, 65419.781957, 65292.660184, 67542.892781, 68092.770270,
                                         63865.466484, 63695.839034, 65396.951463, 74078.957820, 69648.529044};

constexpr const char* page =
    "size: 1048576, round 0: num: 64 average: 65525.545105 us (320.051057 MB/s)\n"
    "size: 1048576, round 1: num: 64 average: 65419.781957 us (320.568479 MB/s)\n"
    "size: 1048576, round 2: num: 64 average: 65292.660184 us (321.192611 MB/s)\n"
    "size: 1048576, round 3: num: 64 average: 67542.892781 us (310.491884 MB/s)\n"
    "size: 1048576, round 4: num: 64 average: 68092.770270 us (307.984532 MB/s)\n"
    "size: 1048576, round 5: num: 64 average: 63865.466484 us (328.370263 MB/s)\n"
    "size: 1048576, round 6: num: 64 average: 63695.839034 us (329.244741 MB/s)\n"
    "size: 1048576, round 7: num: 64 average: 65396.951463 us (320.680392 MB/s)\n"
    "size: 1048576, round 8: num: 64 average: 74078.957820 us (283.096855 MB/s)\n"
    "size: 1048576, round 9: num: 64 average: 69648.529044 us (301.104995 MB/s)\n"
    "# Info:   (0): ---- bucket data ----\n"
    "size: 1048576 54673.559333 (383.577002 MB/s): 640\n"
    "size: 1048576 num: 640 average: 66855.939414 (313.682228 MB/s)\n";

/// The page's first command line, with its ranks, and nothing measured yet.
struct Page {
  Command command = parse({"./netgauge", "-s", "1048576-1048576", "-x", "ebb", "-r", "10"});
  bench::bisection::BisectionResult so_far;

  Page() { describe(); }
  explicit Page(const std::vector<std::string>& arguments) : command(parse(arguments)) { describe(); }

  const bench::bisection::BisectionRequest& request() const { return command.request; }
  Shown& shown() { return command.shown; }

 private:
  void describe() {
    so_far.request = command.request;
    so_far.hosts = {{"a", "0,2"}, {"b", "1,3"}};
    so_far.provenance.version = "9.8.7";
    so_far.provenance.num_ranks = 4;
    so_far.provenance.num_hosts = 2;
    so_far.provenance.launcher = "MPICH Hydra";
    so_far.provenance.transport.library = "MPICH 4.0.2";
    so_far.provenance.clock = {"CLOCK_MONOTONIC (tsc)", 1.0, 24.6};
  }
};

bench::bisection::PatternSummary round_of(std::uint64_t number, double shown_us) {
  bench::bisection::PatternSummary summary;
  summary.position.message_size_bytes = mebi;
  summary.position.number = number;
  summary.num_connections = 64;
  summary.time_ns_mean = exchange_ns(shown_us);
  return summary;
}

bench::bisection::BisectionSummary size_of(double mean_us) {
  bench::bisection::BisectionSummary size;
  size.message_size_bytes = mebi;
  size.num_patterns = 10;
  size.num_connections = 640;
  size.bytes_per_s_harmonic = bytes_per_s(mean_us);
  size.ebb = {10, 3.2e8, 1.25e7};
  return size;
}

schedule::Pattern pairs() { return {{2, 3, 0, 1}}; }

TEST(NetgaugeText, HasTheNumbersOfThePage) {
  const Page example;
  bench::bisection::BisectionSummary size = size_of(std::accumulate(page_us.begin(), page_us.end(), 0.0) / 10);
  size.buckets = {{exchange_ns(54673.559333), exchange_ns(90000), 640}};
  std::string text;
  for (std::size_t number = 0; number < page_us.size(); ++number) {
    text += round_lines(example.command.shown, example.request(), round_of(number, page_us[number]), {});
  }
  text += ending(example.command.shown, example.request(), size);
  EXPECT_EQ(text, page + std::string("# effective bisection bandwidth (mean over connections and patterns): "
                                     "320.000000 MB/s +- 12.500000 (95 %, 10 patterns)\n"));
}

/// The second example: ten buckets of equal width, of which the lower edges are shown.
TEST(NetgaugeText, HasTheBucketsOfThePage) {
  const Page example;
  constexpr double first_us = 54543.972, width_us = 7984.9958;
  constexpr std::array<std::uint64_t, 10> counts{41834, 11706, 4769, 1802, 2570, 751, 253, 255, 24, 36};
  bench::bisection::BisectionSummary size = size_of(62274.659839);
  size.num_connections = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    const double low_us = first_us + static_cast<double>(bucket) * width_us;
    size.buckets.push_back({exchange_ns(low_us), exchange_ns(low_us + width_us), counts[bucket]});
  }
  EXPECT_THAT(ending(example.command.shown, example.request(), size),
              StartsWith("# Info:   (0): ---- bucket data ----\n"
                         "size: 1048576 54543.972000 (384.488317 MB/s): 41834\n"
                         "size: 1048576 62528.967800 (335.388872 MB/s): 11706\n"
                         "size: 1048576 70513.963600 (297.409462 MB/s): 4769\n"
                         "size: 1048576 78498.959400 (267.156662 MB/s): 1802\n"
                         "size: 1048576 86483.955200 (242.490297 MB/s): 2570\n"
                         "size: 1048576 94468.951000 (221.993785 MB/s): 751\n"
                         "size: 1048576 102453.946800 (204.692163 MB/s): 253\n"
                         "size: 1048576 110438.942600 (189.892437 MB/s): 255\n"
                         "size: 1048576 118423.938400 (177.088520 MB/s): 24\n"
                         "size: 1048576 126408.934200 (165.902198 MB/s): 36\n"
                         "size: 1048576 num: 64000 average: 62274.659839 (336.758483 MB/s)\n"));
  EXPECT_EQ(round_lines(example.command.shown, example.request(), round_of(999, 66695.577922), {}),
            "size: 1048576, round 999: num: 64 average: 66695.577922 us (314.436439 MB/s)\n");
}

TEST(NetgaugeText, LeavesEmptyBucketsOut) {
  const Page example;
  bench::bisection::BisectionSummary size = size_of(1000);
  size.buckets = {
      {exchange_ns(1), exchange_ns(2), 1}, {exchange_ns(2), exchange_ns(3), 0}, {exchange_ns(3), exchange_ns(4), 2}};
  EXPECT_THAT(ending(example.command.shown, example.request(), size),
              AllOf(HasSubstr("size: 1048576 1.000000 ("), HasSubstr("size: 1048576 3.000000 ("),
                    Not(HasSubstr("size: 1048576 2.000000 ("))));
}

TEST(NetgaugeText, WithoutBucketsHasNoSummaryEither) {
  const Page none({"netgauge", "-s", "1048576", "-x", "ebb", "-b", "0"});
  EXPECT_EQ(ending(none.command.shown, none.request(), size_of(1000)),
            "# effective bisection bandwidth (mean over connections and patterns): 320.000000 MB/s +- 12.500000 (95 %, "
            "10 patterns)\n");
}

TEST(NetgaugeText, OfOnePatternHasNoInterval) {
  const Page example;
  bench::bisection::BisectionSummary size = size_of(1000);
  size.ebb = {1, 3.2e8, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(ending(example.command.shown, example.request(), size), EndsWith("320.000000 MB/s (1 pattern)\n"));
}

TEST(NetgaugeText, SaysAboveAllRoundsWhatItIs) {
  Page example;
  const std::string plain =
      "# bandwidths are in MB/s (10^6 bytes/s); Netgauge printed the same numbers as MiB/s\n"
      "# measured by Leadline 9.8.7; pairs from seed 1; 2 exchanges of new partners before each round are not timed "
      "(Netgauge had none)\n"
      "# timer: CLOCK_MONOTONIC (tsc), which needs no calibration\n";
  EXPECT_EQ(opening(example.shown(), example.so_far),
            "# Info:   (0): Netgauge v2.4.6 MPI enabled (P=4, threadlevel=0) (./netgauge -s 1048576-1048576 -x ebb -r "
            "10 )\n" +
                plain);
  example.shown().verbosity = 0;
  EXPECT_EQ(opening(example.shown(), example.so_far), plain);
  example.shown().host_names = Flag::on;
  EXPECT_EQ(opening(example.shown(), example.so_far),
            plain + "# rank 0 -> a\n# rank 1 -> b\n# rank 2 -> a\n# rank 3 -> b\n");
}

TEST(NetgaugeText, SaysWhatIsOtherThanExpected) {
  Page example;
  example.shown().remarks = {"-c has no effect", "-t has no effect"};
  example.shown().timer_check = Flag::on;
  example.so_far.provenance.num_ranks = 5;
  EXPECT_THAT(opening(example.shown(), example.so_far),
              EndsWith("# 5 ranks are odd: one of them rests in each round (Netgauge refused them)\n"
                       "# -c has no effect\n"
                       "# -t has no effect\n"
                       "# timer: CLOCK_MONOTONIC (tsc), which needs no calibration\n"
                       "# Sanity check of the timer: a tick is 1 ns, the smallest step seen 1 ns, a reading takes 25 "
                       "ns\n"));
}

TEST(NetgaugeText, HasMoreLinesAtHigherLevels) {
  Page example;
  const bench::bisection::PatternPosition position{0, mebi, 3, bench::bisection::PatternKind::random, 3, 0, "random"};
  const bench::bisection::Interval so_far{4, 3.2e8, 1e6};
  const bench::bisection::PatternSummary round = round_of(3, 1000);
  EXPECT_EQ(above_round(example.shown(), example.request(), position, pairs()), "");
  EXPECT_THAT(opening(example.shown(), example.so_far), Not(HasSubstr("MPICH")));
  example.shown().verbosity = 2;
  EXPECT_EQ(above_round(example.shown(), example.request(), position, pairs()), "# size: 1048576 round 4/10\n");
  EXPECT_THAT(opening(example.shown(), example.so_far),
              HasSubstr("# Info:   (0): MPICH 4.0.2, started by MPICH Hydra, 4 ranks on 2 hosts\n"));
  EXPECT_THAT(round_lines(example.shown(), example.request(), round, so_far), Not(HasSubstr("so far")));
  example.shown().verbosity = 3;
  EXPECT_THAT(round_lines(example.shown(), example.request(), round, so_far),
              EndsWith(" MB/s)\n# Info:   (0): so far 320.000000 MB/s +- 1.000000 (95 %, 4 patterns)\n"));
  example.shown().verbosity = 0;
  EXPECT_THAT(ending(example.shown(), example.request(), size_of(1)), Not(HasSubstr("bucket data")));
}

TEST(NetgaugeText, ShowsEachPairOnce) {
  Page example;
  example.shown().pairs = Flag::on;
  EXPECT_EQ(above_round(example.shown(), example.request(), {}, pairs()), "0 <-> 2\n1 <-> 3\n");
  EXPECT_EQ(above_round(example.shown(), example.request(), {}, {{schedule::no_rank, 3, 4, 1, 2}}),
            "1 <-> 3\n2 <-> 4\n# 0 rests\n");
}

TEST(NetgaugeText, HasOnlyCommentsAboveTheRounds) {
  Page example({"netgauge", "-v3", "-q", "--hostnames", "-c", "1", "-s", "1M", "-x", "ebb", "-h"});
  example.so_far.provenance.num_ranks = 3;
  const std::string text = opening(example.shown(), example.so_far);
  EXPECT_EQ(text.front(), '#');
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    EXPECT_EQ(text[at + 1], '#') << text.substr(at);
  }
}

TEST(NetgaugeText, ComesRoundByRound) {
  Page example;
  example.shown().verbosity = 2;
  std::vector<std::string> pieces;
  const Outlet outlet{[&](const std::string& text) { pieces.push_back(text); }, [](const std::string&) {}};
  const auto progress = make_progress(example.so_far, example.command.shown, outlet);
  EXPECT_THAT(pieces, ElementsAre(StartsWith("# Info:   (0): Netgauge v2.4.6")));
  progress->size_begins(0, mebi);
  progress->pattern_begins({0, mebi, 0, bench::bisection::PatternKind::random, 0, 0, "random"}, pairs());
  EXPECT_THAT(pieces.back(), StartsWith("# size: 1048576 round 1/10"));
  progress->pattern_ends(round_of(0, page_us[0]), {}, 1);
  EXPECT_EQ(pieces.back(), "size: 1048576, round 0: num: 64 average: 65525.545105 us (320.051057 MB/s)\n");
  progress->size_ends(size_of(1000));
  EXPECT_THAT(pieces.back(), StartsWith("# Info:   (0): ---- bucket data ----\n"));
  EXPECT_EQ(pieces.size(), 4u);
}

TEST(NetgaugeText, HasAVersion) { EXPECT_EQ(version_line("9.8.7"), "Netgauge v2.4.6 (Leadline 9.8.7)\n"); }

}  // namespace
}  // namespace leadline::compat::netgauge
