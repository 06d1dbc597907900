// SPDX-License-Identifier: Apache-2.0
// NETTEST's table: with the times that the numbers of its page stand for comes the page, to the blank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compat/nettest/text.hpp"
#include "compat/process.hpp"
#include "compat/values.hpp"
#include "core/error.hpp"
#include "support/served_channels.hpp"

namespace leadline::compat::nettest {
namespace {

using schedule::ChannelMode;
using schedule::Shape;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr double mebi = 1 << 20;

/// As NETTEST's page shows it, where tabs are blanks.
constexpr const char* sample =
    "NETTEST/MPI of 2003/07/08 is running with following parameters:\n"
    "        Message length unit is 1Kb = 1024 bytes\n"
    "        Messages: 1 to 16 units, step 0, multiplier 2\n"
    "        1000 times for each test routine, 2 iterations for whole test\n"
    "        Running chaos test with 6 logical links used.\n"
    "        Nodes: aqua1-1.the.net aqua1-2.the.net aqua1-3.the.net aqua2-1.the.net\n"
    "\n"
    "        Network throughput values in MB/sec\n"
    "Size,K  Star    Star2   Chaos   Chaos2  Ring    Ring2\n"
    "1       8.38    16.44   15.88   23.73   15.08   21.85\n"
    "2       9.95    20.08   19.04   27.62   20.57   26.95\n"
    "4       12.83   21.47   22.89   31.83   27.61   33.44\n"
    "8       14.19   21.41   23.58   34.22   32.71   36.83\n"
    "16      15.03   21.34   25.19   35.05   36.48   39.59\n"
    "1       8.35    15.00   15.83   23.79   15.51   21.92\n"
    "2       10.23   20.08   19.26   27.64   20.48   26.92\n"
    "4       12.81   21.47   22.19   32.14   27.88   33.46\n"
    "8       14.15   21.42   23.67   34.17   32.79   36.50\n"
    "16      15.05   21.23   25.16   35.27   36.66   38.59\n"
    "\n"
    "MPI Network Test complete in 125.51 sec\n"
    "\n"
    "        Best network throughput values in MB/sec\n"
    "        Star    Star2   Chaos   Chaos2  Ring    Ring2\n"
    "        15.05   21.47   25.19   35.27   36.66   39.59\n";

constexpr double sample_elapsed_s = 125.51;

constexpr std::array<std::array<double, 6>, 10> sample_rates{{
    {8.38, 16.44, 15.88, 23.73, 15.08, 21.85},
    {9.95, 20.08, 19.04, 27.62, 20.57, 26.95},
    {12.83, 21.47, 22.89, 31.83, 27.61, 33.44},
    {14.19, 21.41, 23.58, 34.22, 32.71, 36.83},
    {15.03, 21.34, 25.19, 35.05, 36.48, 39.59},
    {8.35, 15.00, 15.83, 23.79, 15.51, 21.92},
    {10.23, 20.08, 19.26, 27.64, 20.48, 26.92},
    {12.81, 21.47, 22.19, 32.14, 27.88, 33.46},
    {14.15, 21.42, 23.67, 34.17, 32.79, 36.50},
    {15.05, 21.23, 25.16, 35.27, 36.66, 38.59},
}};

std::string without_tabs(const std::string& text) {
  std::string plain;
  std::size_t column = 0;
  for (const char letter : text) {
    const std::size_t width = letter == '\t' ? 8 - column % 8 : 1;
    plain += letter == '\t' ? std::string(width, ' ') : std::string(1, letter);
    column = letter == '\n' ? 0 : column + width;
  }
  return plain;
}

/// Four ranks, which the page's command line asks for, and nothing measured yet.
struct Sample {
  Command command = parse({"nettest", "uK", "m1", "M16", "K2", "R2", "T1000", "Ptotal", "otransfer.dat"});
  bench::topology::TopologyResult so_far;

  Sample() {
    so_far.request = command.request;
    so_far.hosts = {
        {"aqua1-1.the.net", "0"}, {"aqua1-2.the.net", "1"}, {"aqua1-3.the.net", "2"}, {"aqua2-1.the.net", "3"}};
    so_far.topologies = {{"star", Shape::star, ChannelMode::answered, 3, 3, {}},
                         {"star2", Shape::star, ChannelMode::both_ways, 3, 3, {}},
                         {"complete", Shape::complete, ChannelMode::answered, 6, 3, {}},
                         {"complete2", Shape::complete, ChannelMode::both_ways, 6, 3, {}},
                         {"ring", Shape::ring, ChannelMode::phased, 4, 2, {}},
                         {"ring2", Shape::ring, ChannelMode::both_ways, 4, 2, {}}};
  }
};

/// The cells whose mean times give the page's rates, in the engine's order; all other times are far off.
std::vector<bench::topology::CellSummary> measured(const bench::topology::TopologyResult& so_far) {
  std::vector<bench::topology::CellSummary> cells;
  const std::size_t num_sizes = so_far.request.message_sizes_bytes.size();
  for (std::size_t line = 0; line < sample_rates.size(); ++line) {
    for (std::size_t column = 0; column < sample_rates[line].size(); ++column) {
      bench::topology::CellSummary summary;
      const std::size_t size_index = line % num_sizes;
      summary.cell = {static_cast<int>(column), static_cast<int>(size_index), static_cast<int>(line / num_sizes),
                      so_far.request.message_sizes_bytes[size_index]};
      const bench::topology::TopologyFacts& topology = so_far.topologies[column];
      summary.served = all_channels(topology);
      const double volume_bytes =
          2.0 * static_cast<double>(summary.cell.message_size_bytes) * static_cast<double>(topology.num_channels);
      const double time_ns = 1e9 * volume_bytes / (sample_rates[line][column] * mebi);
      summary.with_barrier = {1000, 1, 1, time_ns, 1, 1, 1, 1};
      summary.exchange = {1000, 1, 1, 1, 1, 1, 1, 1};
      cells.push_back(summary);
    }
  }
  return cells;
}

struct Shown {
  std::string text;
  std::vector<std::string> pieces;
};

/// A whole run, as its front end shows it.
Shown shown(const Command& command, const bench::topology::TopologyResult& so_far,
            const std::vector<bench::topology::CellSummary>& cells) {
  Shown all;
  double elapsed_s = 0;
  const Outlet outlet{[&](const std::string& text) { all.pieces.push_back(text); }, [](const std::string&) {}};
  const auto progress = make_progress(so_far, command.lengths, outlet, elapsed_s);
  for (std::size_t index = 0; index < cells.size(); ++index) {
    progress->cell_begins(cells[index].cell, index, cells.size());
    progress->cell_ends(cells[index],
                        sample_elapsed_s * static_cast<double>(index + 1) / static_cast<double>(cells.size()));
  }
  bench::topology::TopologyResult result = so_far;
  result.cells = cells;
  outlet.out(ending(result, elapsed_s));
  for (const std::string& piece : all.pieces) all.text += piece;
  return all;
}

TEST(NettestText, IsThatOfThePage) {
  const Sample page;
  EXPECT_EQ(without_tabs(shown(page.command, page.so_far, measured(page.so_far)).text), sample);
}

TEST(NettestText, ComesLineByLine) {
  const Sample page;
  const Shown all = shown(page.command, page.so_far, measured(page.so_far));
  ASSERT_EQ(all.pieces.size(), 12u);
  EXPECT_THAT(all.pieces[0], EndsWith("Size,K\tStar\tStar2\tChaos\tChaos2\tRing\tRing2\n"));
  EXPECT_EQ(all.pieces[1], "1\t8.38\t16.44\t15.88\t23.73\t15.08\t21.85\n");
  EXPECT_EQ(all.pieces[10], "16\t15.05\t21.23\t25.16\t35.27\t36.66\t38.59\n");
}

/// NETTEST reported 125.51 s for the run of the sample, so its times must fit in there, and they nearly fill it.
TEST(NettestText, TimesOfThePageFillItsRun) {
  const Sample page;
  double total_s = 0;
  for (const bench::topology::CellSummary& cell : measured(page.so_far))
    total_s += 1e-9 * 1000 * cell.with_barrier.mean;
  EXPECT_LE(total_s, sample_elapsed_s);
  EXPECT_NEAR(total_s, 125.43, 0.005);
}

TEST(NettestText, LeavesTheFullGraphOut) {
  Sample page;
  page.so_far.topologies.erase(page.so_far.topologies.begin() + 2, page.so_far.topologies.begin() + 4);
  const std::string text = heading(page.command.lengths, page.so_far);
  EXPECT_THAT(text, Not(HasSubstr("haos")));
  EXPECT_THAT(text, EndsWith("Size,K\tStar\tStar2\tRing\tRing2\n"));
}

TEST(NettestText, HasOtherTitlesForOtherRates) {
  Sample page;
  page.so_far.request.rate = bench::topology::Rate::average;
  EXPECT_THAT(heading(page.command.lengths, page.so_far), HasSubstr("\tChannel throughput values in MB/sec\n"));
  EXPECT_THAT(ending(page.so_far, 1), HasSubstr("\tBest channel throughput values in MB/sec\n"));
  page.so_far.request.rate = bench::topology::Rate::local;
  EXPECT_THAT(heading(page.command.lengths, page.so_far), HasSubstr("\tNode throughput values in MB/sec\n"));
  EXPECT_THAT(ending(page.so_far, 1), HasSubstr("\tBest node throughput values in MB/sec\n"));
}

TEST(NettestText, HasTheRatesOfItsMode) {
  Sample page;
  std::vector<bench::topology::CellSummary> cells;
  for (int column = 0; column < 6; ++column) {
    bench::topology::CellSummary summary;
    summary.cell = {column, 0, 0, 1024};
    summary.served = all_channels(page.so_far.topologies[static_cast<std::size_t>(column)]);
    summary.with_barrier.mean = 1e6;  // 2 KiB a channel in a millisecond: 1.953125 MiB/s
    cells.push_back(summary);
  }
  EXPECT_EQ(row(page.command.lengths, page.so_far, cells), "1\t5.86\t5.86\t11.72\t11.72\t7.81\t7.81\n");
  page.so_far.request.rate = bench::topology::Rate::average;
  EXPECT_EQ(row(page.command.lengths, page.so_far, cells), "1\t1.95\t1.95\t1.95\t1.95\t1.95\t1.95\n");
  page.so_far.request.rate = bench::topology::Rate::local;
  EXPECT_EQ(row(page.command.lengths, page.so_far, cells), "1\t5.86\t5.86\t5.86\t5.86\t3.91\t3.91\n");
}

TEST(NettestText, NamesTheUnit) {
  const Sample page;
  Lengths lengths{'b', 100, 1000, 100, 0};
  EXPECT_THAT(heading(lengths, page.so_far), HasSubstr("\tMessage length unit is 1b = 1 byte\n"
                                                       "\tMessages: 100 to 1000 units, step 100, multiplier 0\n"));
  EXPECT_THAT(heading(lengths, page.so_far), HasSubstr("\nSize,b\t"));
  lengths.unit = 'M';
  EXPECT_THAT(heading(lengths, page.so_far), HasSubstr("\tMessage length unit is 1Mb = 1048576 bytes\n"));
  EXPECT_THAT(heading(lengths, page.so_far), HasSubstr("\nSize,M\t"));
}

TEST(NettestText, NamesHostsInTheOrderOfRanks) {
  EXPECT_THAT(host_of_each_rank({{"a", "0-1,5"}, {"b", "2,4"}, {"c", "3"}}), ElementsAre("a", "a", "b", "c", "b", "a"));
  EXPECT_THAT(host_of_each_rank({{"a", "0,2,10-11"}, {"b", "1,3-9"}}),
              ElementsAre("a", "b", "a", "b", "b", "b", "b", "b", "b", "b", "a", "a"));
}

class NettestTableFile : public testing::Test {
 protected:
  ~NettestTableFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "transfer.dat").string(); }

  std::string text() const {
    std::ifstream in(path());
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_ = [] {
    std::string name = (std::filesystem::temp_directory_path() / "nettest-XXXXXX").string();
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
};

TEST_F(NettestTableFile, HasEachTextAtOnce) {
  std::ofstream(path()) << "the table of an earlier and much longer run";
  const auto first = appending_to(path(), "o");
  EXPECT_EQ(text(), "");
  first("one\n");
  EXPECT_EQ(text(), "one\n");
  const auto copy = first;  // NOLINT(performance-unnecessary-copy-initialization): what a copy does is the question
  copy("two\n");
  first("three\n");
  EXPECT_EQ(text(), "one\ntwo\nthree\n");
}

TEST_F(NettestTableFile, IsRefusedInWordsOfNettest) {
  try {
    appending_to(folder() + "/missing/transfer.dat", "o");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_THAT(error.what(), HasSubstr("missing/transfer.dat"));
    EXPECT_THAT(error.what(), EndsWith("choose another with o"));
  }
}

TEST_F(NettestTableFile, SaysThatTheDiskIsFull) {
  const auto append = appending_to("/dev/full", "o");
  try {
    append("one\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    EXPECT_THAT(error.what(), HasSubstr("/dev/full"));
    EXPECT_THAT(error.what(), Not(HasSubstr("--output")));
  }
}

}  // namespace
}  // namespace leadline::compat::nettest
