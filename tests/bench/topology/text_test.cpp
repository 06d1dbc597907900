// SPDX-License-Identifier: Apache-2.0
// The texts of a topology test: the summary word by word, its parts for everything else, progress and plan.
#include "bench/topology/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "output/run_text.hpp"
#include "support/screen.hpp"
#include "support/served_channels.hpp"

namespace leadline::output::topology_text_test {
namespace {

using schedule::ChannelMode;
using schedule::Shape;
using test::Screen;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t mebi = 1 << 20;

bench::topology::TopologyFacts star(const std::string& name = "star") {
  return {name, Shape::star, ChannelMode::answered, 3, 3, {}};
}
bench::topology::TopologyFacts ring() { return {"ring2", Shape::ring, ChannelMode::both_ways, 4, 2, {}}; }

bench::topology::ExchangeTimes times(double median_ns) {
  return {.num = 100,
          .min = median_ns / 2,
          .median = median_ns,
          .mean = median_ns * 1.25,
          .p99 = median_ns * 3,
          .max = median_ns * 4,
          .median_low = median_ns * 0.8,
          .median_high = median_ns * 1.25};
}

bench::topology::CellSummary cell(int topology_index, int size_index, std::uint64_t size, double median_ns, int repeat,
                                  const bench::topology::TopologyFacts& facts) {
  bench::topology::CellSummary summary;
  summary.cell = {topology_index, size_index, repeat, size};
  summary.served = all_channels(facts);
  summary.exchange = times(median_ns);
  summary.with_barrier = times(median_ns * 1.6);  // its mean is twice the median
  summary.slowest_rank = {3, 1e9};
  summary.fastest_rank = {0, 2e9};
  summary.slowest_channel = {2, 0, median_ns * 0.75};
  summary.fairness = 0.875;
  summary.measuring_s = 0.5;
  return summary;
}

/// Of two_topologies().
bench::topology::CellSummary cell(int topology_index, int size_index, std::uint64_t size, double median_ns,
                                  int repeat = 0) {
  return cell(topology_index, size_index, size, median_ns, repeat, topology_index == 1 ? ring() : star());
}

bench::topology::TopologyResult two_topologies() {
  bench::topology::TopologyResult result;
  result.complete = true;
  result.provenance.transport = {.name = "tcp", .library = "sockets of the kernel", .device = "lo"};
  result.provenance.wait = WaitMode::yield;
  result.provenance.num_ranks = 4;
  result.provenance.num_hosts = 2;
  result.hosts = {{"a", "0-1"}, {"b", "2-3"}};
  result.request.message_sizes_bytes = {1024, mebi};
  result.topologies = {star(), ring()};
  result.cells = {cell(0, 0, 1024, 40'000), cell(1, 0, 1024, 50'000), cell(0, 1, mebi, 1'000'000),
                  cell(1, 1, mebi, 2'000'000)};
  return result;
}

/// A star with each rank as its centre; the higher the centre, the slower.
bench::topology::TopologyResult many_stars(int num) {
  bench::topology::TopologyResult result = two_topologies();
  result.topologies.clear();
  result.cells.clear();
  result.request.message_sizes_bytes = {mebi};
  for (int centre = 0; centre < num; ++centre) {
    result.topologies.push_back(star("star:" + std::to_string(centre)));
    result.cells.push_back(cell(centre, 0, mebi, 1e6 * (1 + centre), 0, star()));
  }
  return result;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(TopologySummary, ReadsLikeThis) {
  EXPECT_EQ(bench::topology::topology_summary(two_topologies(), "run.h5"),
            R"(4 ranks on 2 hosts, transport tcp (sockets of the kernel), waiting: yield
each topology and size: 100 timed exchanges, 10 traced

total rate in MiB/s, from the median time until the slowest rank is done
  message size      star     ring2
         1 KiB   146.484   156.250
         1 MiB  6000.000  4000.000

messages of 1 MiB, rates in GiB/s
  topology  total   95 % interval  local  average  NETTEST total
  star      5.859  4.688 to 7.324  5.859    1.953          2.930
  ring2     3.906  3.125 to 4.883  1.953    0.977          1.953
  NETTEST total: as it counts, from the mean time with the closing barrier in it

  topology  slowest rank  GiB/s  fastest  GiB/s  slowest channel     ms  fairness
  star             3 (b)  0.931    0 (a)  1.863           2 -> 0  0.750     0.875
  ring2            3 (b)  0.931    0 (a)  1.863           2 -> 0  1.500     0.875
  a rank's rate: what it sends and receives itself, in its own time
  fairness: over the rates of all channels and directions; 1 = all alike, 1/n = one of n has everything

measured in 2.00 s
result: run.h5
next:   leadline report run.h5
)");
}

TEST(TopologySummary, PrintsTheRateThatIsAskedFor) {
  bench::topology::TopologyResult result = two_topologies();
  result.request.rate = bench::topology::Rate::local;
  const std::string text = bench::topology::topology_summary(result, "");
  EXPECT_THAT(text, AllOf(HasSubstr("local rate in MiB/s"), HasSubstr("         1 MiB  6000.000  2000.000\n"),
                          HasSubstr("topology  local   95 % interval  total  average  NETTEST local\n"),
                          HasSubstr("ring2     1.953  1.562 to 2.441  3.906    0.977          0.977\n")));
}

TEST(TopologySummary, ShowsTheMiddleOfSeveralRepeatsAndHowFarTheyDiffer) {
  bench::topology::TopologyResult result = two_topologies();
  result.request.repeat = 3;
  const std::vector<bench::topology::CellSummary> first = result.cells;
  for (int repeat = 1; repeat < 3; ++repeat) {
    for (bench::topology::CellSummary again : first) {
      again.cell.repeat = repeat;
      if (again.cell.topology_index == 0) again.exchange = times(again.exchange.median * (repeat == 1 ? 10 : 0.5));
      result.cells.push_back(again);
    }
  }
  const std::string text = bench::topology::topology_summary(result, "");
  EXPECT_THAT(text, AllOf(HasSubstr("; 3 repeats, of which the middle one is shown"),
                          HasSubstr("         1 MiB  6000.000  4000.000\n"),
                          HasSubstr("repeats differ by 950.0 % at most (star, 1 KiB)"), HasSubstr("  950.0 %\n"),
                          HasSubstr("  0.0 %\n")));
}

TEST(TopologyCells, TakeOfTwoRepeatsTheSlower) {
  bench::topology::TopologyResult result = two_topologies();
  result.cells.push_back(cell(0, 1, mebi, 1'500'000, 1));
  const bench::topology::TopologyCells cells(result);
  EXPECT_EQ(cells.at(0, 1).middle->exchange.median, 1'500'000);
  EXPECT_DOUBLE_EQ(cells.at(0, 1).spread(), 1.0 / 3);
  EXPECT_EQ(cells.at(1, 1).num_repeats, 1u);
}

TEST(TopologySummary, OfManyTopologiesHasARowForEachAndDetailsOfTheEnds) {
  const std::string text = bench::topology::topology_summary(many_stars(12), "");
  EXPECT_THAT(text, HasSubstr("  topology  1 MiB\n  star:0    5.859\n  star:1    2.930\n"));
  EXPECT_THAT(text, HasSubstr("messages of 1 MiB, the 4 lowest and the 4 highest of 12 topologies, rates in"));
  const std::string details = text.substr(text.find("messages of 1 MiB"));
  EXPECT_LT(details.find("star:11"), details.find("star:8")) << "the lowest first";
  EXPECT_THAT(details, AllOf(HasSubstr("star:8"), HasSubstr("star:3"), HasSubstr("star:0"), Not(HasSubstr("star:4")),
                             Not(HasSubstr("star:7 "))));
}

TEST(TopologySummary, OfVeryManyTopologiesStaysReadable) {
  const std::string text = bench::topology::topology_summary(many_stars(4096), "");
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 90);
  EXPECT_THAT(text, AllOf(HasSubstr("star:4095 "), HasSubstr("star:0 "), HasSubstr("of 4096 topologies")));
}

TEST(TopologySummary, FitsAScreen) {
  bench::topology::TopologyResult result = two_topologies();
  EXPECT_LE(widest_line(bench::topology::topology_summary(result, "")), 105u);
  result.topologies[0].name = std::string(40, 'e');
  result.topologies[1].name = std::string(50, 'f');
  result.request.message_sizes_bytes.assign(64, 1024);
  EXPECT_LE(widest_line(bench::topology::topology_summary(result, "").substr(0, 1500)), 130u);
  EXPECT_THAT(bench::topology::topology_summary(result, ""), HasSubstr("6 of 64 message sizes"));
}

TEST(TopologySummary, PrintsADashForWhatWasNotMeasured) {
  bench::topology::TopologyResult result = two_topologies();
  result.cells.pop_back();
  result.cells.back().slowest_channel = {};
  result.cells.back().fairness = NAN;
  result.complete = false;
  result.incomplete_reason = "rank 3 on b is gone";
  const std::string text = bench::topology::topology_summary(result, "-");
  EXPECT_THAT(text, AllOf(HasSubstr("INCOMPLETE: rank 3 on b is gone"), HasSubstr("1 MiB  6000.000        -\n"),
                          Not(HasSubstr("nan")), Not(HasSubstr("inf")), Not(HasSubstr("result:"))));
}

TEST(TopologySummary, LeavesOutChannelsThatWereNotTraced) {
  bench::topology::TopologyResult result = two_topologies();
  result.request.num_traced = 0;
  EXPECT_THAT(bench::topology::topology_summary(result, ""),
              AllOf(Not(HasSubstr("channel")), Not(HasSubstr("fairness"))));
}

bench::topology::LoadPoint point(int topology_index, double begin_s, double time_ns, std::uint64_t num) {
  return {
      {topology_index, 0, 0, mebi}, {topology_index == 1 ? 4 : 3, 3}, begin_s, 1, 2 * num, num, time_ns, 2 * time_ns};
}

bench::topology::TopologyResult loaded() {
  bench::topology::TopologyResult result = two_topologies();
  result.cells.clear();
  result.request.message_sizes_bytes = {mebi};
  result.request.duration_s = 5;
  result.load = {point(0, 0, 2e6, 10), point(1, 1, 2e6, 20), point(0, 2, 6e6, 30), point(0, 3, 3e6, 40),
                 point(0, 4, 4e6, 50)};
  result.verified_bytes = 5 * mebi;
  return result;
}

TEST(TopologySummary, OfALoadTellsItsCourse) {
  EXPECT_THAT(bench::topology::topology_summary(loaded(), "run.h5"), HasSubstr(R"(
load for 5.00 s, in 5 slices: total rate in MiB/s, bytes by elapsed time
  topology  message size    begin    least   median     last  exchanges  verified
  star             1 MiB  120.000  120.000  420.000  600.000        260       130
  ring2            1 MiB  320.000  320.000  320.000  320.000         40        20

verified: 5.0 MiB arrived as sent
result: run.h5
)"));
}

TEST(TopologySummary, OfALoadThatNeverBeganIsHeadAndTail) {
  bench::topology::TopologyResult result = loaded();
  result.load.clear();
  EXPECT_THAT(bench::topology::topology_summary(result, "run.h5"),
              AllOf(HasSubstr("4 ranks"), HasSubstr("result: run.h5")));
}

TEST(HostsOfRanks, ReadsRangesBackwards) {
  const HostsOfRanks hosts({{"a", "0-3,8"}, {"b", "4-7,9-10"}});
  EXPECT_TRUE(hosts.has_several());
  EXPECT_EQ(hosts.of(0), "a");
  EXPECT_EQ(hosts.of(3), "a");
  EXPECT_EQ(hosts.of(4), "b");
  EXPECT_EQ(hosts.of(8), "a");
  EXPECT_EQ(hosts.of(10), "b");
  EXPECT_EQ(hosts.of(11), "");
  EXPECT_EQ(HostsOfRanks({}).of(0), "");
}

TEST(TopologyProgress, IsATableForEachSize) {
  const bench::topology::TopologyResult result = two_topologies();
  Screen screen;
  const auto progress = bench::topology::make_topology_lines(result.request, result.topologies, screen.outlet());
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    progress->cell_begins(result.cells[i].cell, i, result.cells.size());
    progress->cell_ends(result.cells[i], static_cast<double>(i + 1));
  }
  EXPECT_THAT(screen.text, HasSubstr("message size 1 KiB\n"
                                     " cell  topology    median us    total MiB/s     elapsed        left\n"
                                     "  1/4  star           40.000        146.484      1.00 s"));
  EXPECT_THAT(screen.text, HasSubstr("message size 1 MiB\n"
                                     " cell  topology    median ms    total GiB/s     elapsed        left\n"
                                     "  3/4  star            1.000          5.859      3.00 s"));
  EXPECT_THAT(screen.text, HasSubstr("  4/4  ring2           2.000          3.906      4.00 s      0.00 s\n"));
}

TEST(TopologyProgress, ExpectsLargeMessagesToTakeLonger) {
  const bench::topology::TopologyResult result = two_topologies();
  Screen screen;
  const auto progress = bench::topology::make_topology_lines(result.request, result.topologies, screen.outlet());
  progress->cell_begins(result.cells[0].cell, 0, 4);
  progress->cell_ends(result.cells[0], 1);
  EXPECT_THAT(screen.text, Not(HasSubstr("3.00 s\n"))) << "as if a MiB took no longer than a KiB";
  EXPECT_THAT(screen.text, HasSubstr(" min "));
}

TEST(TopologyProgress, OfALoadCountsDown) {
  const bench::topology::TopologyResult result = loaded();
  Screen screen;
  const auto progress = bench::topology::make_topology_lines(result.request, result.topologies, screen.outlet());
  progress->load_goes_on(result.load[0], 1);
  progress->load_goes_on(result.load[1], 5.5);
  EXPECT_EQ(screen.text,
            "slice  topology message size    total MiB/s  exchanges   verified     elapsed        left\n"
            "    1  star            1 MiB        120.000         20         10      1.00 s      4.00 s\n"
            "    2  ring2           1 MiB        320.000         40         20      5.50 s      0.00 s\n");
}

TEST(TopologyProgress, InATerminalVanishes) {
  const bench::topology::TopologyResult result = two_topologies();
  Screen screen;
  {
    const auto progress = bench::topology::make_topology_bar(result.request, result.topologies, screen.outlet());
    for (std::size_t i = 0; i < result.cells.size(); ++i) {
      screen.now_s = static_cast<double>(i + 1);
      progress->cell_begins(result.cells[i].cell, i, result.cells.size());
      progress->cell_ends(result.cells[i], screen.now_s);
    }
    EXPECT_THAT(screen.text, AllOf(HasSubstr("star 1 KiB (1/4)"), HasSubstr("left, total"), HasSubstr("[###")));
    EXPECT_TRUE(screen.text.ends_with("\r\x1b[K"));
    EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\n'), 0);
  }
}

TEST(TopologyPlanText, ShowsChannelsAndCost) {
  bench::topology::TopologyRequest request;
  request.patterns = {"star", "ring2"};
  request.message_sizes_bytes = {1024, mebi};
  const std::vector<std::uint32_t> host_of(4);
  const auto plan = bench::topology::plan(request, {4, 4, host_of}, "");
  EXPECT_THAT(topology_plan_text(request, plan),
              AllOf(HasSubstr("Topology test of 4 ranks: 2 topologies x 2 message sizes x 1 repeat\n"),
                    HasSubstr("Each: 100 timed exchanges after 10 for warm-up, 10 traced\n"),
                    HasSubstr("  star: 0-1 0-2 0-3\n"), HasSubstr("  ring2: 0-1 1-2 2-3 3-0\n"), HasSubstr("  time "),
                    HasSubstr("  memory "), HasSubstr("  file ")));
}

TEST(TopologyPlanText, OfALargeRunIsShort) {
  bench::topology::TopologyRequest request;
  request.patterns = {"star-each"};
  const std::vector<std::uint32_t> host_of(1000);
  const auto plan = bench::topology::plan(request, {1000, 1000, host_of}, "");
  const std::string text = topology_plan_text(request, plan);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60);
  EXPECT_THAT(text, HasSubstr("... and 960 more"));
}

TEST(TopologyPlanText, OfALoadSaysForHowLong) {
  bench::topology::TopologyRequest request;
  request.patterns = {"ring2"};
  request.duration_s = 90;
  request.verify_every = 10;
  const std::vector<std::uint32_t> host_of(4);
  const auto plan = bench::topology::plan(request, {4, 4, host_of}, "");
  EXPECT_THAT(topology_plan_text(request, plan), HasSubstr("Load for 90.0 s, topology after topology; every 10th"));
}

}  // namespace
}  // namespace leadline::output::topology_text_test
