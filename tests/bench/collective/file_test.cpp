// SPDX-License-Identifier: Apache-2.0
// What all ranks write of a collective test is what the HDF5 library, our reader, and the texts have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/collective/hdf5_reader.hpp"
#include "bench/collective/hdf5_store.hpp"
#include "bench/collective/json.hpp"
#include "bench/collective/text.hpp"
#include "support/result_files.hpp"

namespace leadline::test::collective_file_test {
namespace {

using namespace bench::collective;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two operations, two sizes, two rounds of two groups, three batches; rank 4 rests.
CollectiveResult so_far(int num_ranks) {
  CollectiveResult result;
  result.provenance = provenance_so_far(num_ranks);
  result.request.command_line = {"leadline", "collective", "\xff"};
  result.request.operations = {"allreduce", "alltoall"};
  result.request.rounds = 2;
  result.request.num_batches = 3;
  result.request.group_hosts = 2;
  result.algorithm = Algorithm::ring;
  result.num_groups = 2;
  result.group_ranks_min = result.group_ranks_max = 2;
  return result;
}

double time_of(std::size_t round, std::size_t cell, std::size_t place) {
  return 1e6 * static_cast<double>(round + 1) + 1000 * static_cast<double>(cell) + static_cast<double>(place);
}

void write_cells(CollectiveFile& file, const cluster::Cluster& cluster) {
  const auto rank = static_cast<std::size_t>(cluster.rank());
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::size_t cell = 0; cell < 4; ++cell) {
      std::vector<GroupTime> times;
      for (std::size_t place = 0; place < 6; ++place) times.push_back({time_of(round, cell, place)});
      RankTimes own;
      if (rank < 4) own = {time_of(round, cell, rank), time_of(round, cell, rank) + 0.25, 9e9};
      file.write({round, cell, {rank < 4 ? static_cast<std::int32_t>(rank / 2) + 1 : 0}, own, times});
    }
  }
}

CollectiveResult finished(CollectiveResult result) {
  for (std::int32_t cell = 0; cell < 4; ++cell) {
    CellSummary& summary = result.cells.emplace_back();
    const auto operation = cell < 2 ? Operation::allreduce : Operation::alltoall;
    summary.cell = {operation, cell % 2, result.request.message_sizes_bytes[static_cast<std::size_t>(cell % 2)]};
    summary.num = 12;
    summary.min = 1000 * (cell + 1);
    summary.median = summary.mean = 2 * summary.min;
    summary.p99 = summary.max = 3 * summary.min;
    summary.bandwidths = {1e9, 1.5e9};
  }
  finish(result);
  return result;
}

class CollectiveFiles : public testing::Test {
 protected:
  std::string written() {
    const std::string path = folder_ / "run.h5";
    const auto errors = run_ranks({5}, [&](auto& cluster) {
      const auto file = open_collective_file(cluster, so_far(5), run_setup_for(cluster, path));
      write_cells(*file, cluster);
      file->finish(cluster.rank() == 0 ? finished(so_far(5)) : CollectiveResult{});
    });
    EXPECT_THAT(errors, Each(""));
    return path;
  }

  Folder folder_;
};

TEST_F(CollectiveFiles, TablesHaveWhatRanksWrote) {
  const Reader reader(written());
  std::vector<double> groups, medians;
  for (std::size_t round = 0; round < 2; ++round) {
    for (std::size_t cell = 0; cell < 4; ++cell) {
      for (std::size_t place = 0; place < 6; ++place) groups.push_back(time_of(round, cell, place));
      for (std::size_t rank = 0; rank < 4; ++rank) medians.push_back(time_of(round, cell, rank) + 0.25);
      medians.push_back(0);
    }
  }
  EXPECT_EQ(reader.doubles("/collective/groups/time_ns"), groups);
  EXPECT_EQ(reader.doubles("/collective/ranks/time_ns_median"), medians);
  EXPECT_THAT(reader.ints("/collective/membership/group"), ElementsAre(1, 1, 2, 2, 0, 1, 1, 2, 2, 0));
}

TEST_F(CollectiveFiles, AreReadAgain) {
  const Hdf5Reader reader(written());
  EXPECT_THAT(reader.header().operations, ElementsAre("allreduce", "alltoall"));
  EXPECT_EQ(reader.header().algorithm, "ring");
  EXPECT_EQ(reader.header().num_iterations, 20);
  EXPECT_EQ(reader.num_rounds_measured(), 2u);
  EXPECT_EQ(reader.times_ns(1, 1, 0).back(), time_of(1, 2, 5));
  const auto cells = kept_cells(reader.header(), reader.path());
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[3].cell.operation, Operation::alltoall);
  EXPECT_EQ(cells[3].cell.message_size_bytes, 4u << 20);
  EXPECT_EQ(cells[3].median, 8000);
  EXPECT_EQ(cells[3].bandwidths.bus_bytes_per_s, 1.5e9);
}

TEST_F(CollectiveFiles, AreToldAndCompared) {
  const auto info = info_of(Hdf5Reader(written()));
  EXPECT_THAT(info.text, AllOf(HasSubstr("collective test, format 1"), HasSubstr("2 of 2 hosts in a round"),
                               HasSubstr("2 of 2\n"), HasSubstr("alltoall"), HasSubstr("8.000 us")));
  const auto numbers = numbers_of(folder_ / "run.h5");
  ASSERT_EQ(numbers.numbers.size(), 4u);
  EXPECT_EQ(numbers.numbers.front().name, "allreduce");
  EXPECT_EQ(numbers.numbers.back().message_size_bytes, 4u << 20);
  EXPECT_NEAR(numbers.numbers.front().value, std::sqrt((1e6 + 2.5) * (2e6 + 2.5)), 1);
}

TEST_F(CollectiveFiles, OfARunWithoutAnEndHaveItsTimes) {
  const std::string path = folder_ / "run.h5";
  run_ranks({5}, [&](auto& cluster) {
    const auto file = open_collective_file(cluster, so_far(5), run_setup_for(cluster, path));
    write_cells(*file, cluster);
    cluster.barrier();
  });
  const Hdf5Reader reader(path);
  EXPECT_EQ(reader.num_rounds_measured(), 2u);
  EXPECT_THAT(info_of(reader).text, HasSubstr("No numbers: the run ended before its summary was written"));
  EXPECT_THAT(error_of(ExitStatus::bad_command_line, [&] { return numbers_of(path); }),
              HasSubstr("before its summary was written"));
}

TEST(CollectiveText, HasTimesAndBandwidths) {
  CollectiveResult result = finished(so_far(5));
  const std::string text = collective_summary(result, "run.h5");
  EXPECT_THAT(text, AllOf(HasSubstr("operations: our own, over its messages; 2 groups of 2 ranks, at the same time; "
                                    "2 rounds\n"),
                          HasSubstr("busbw"), HasSubstr("1.397 GiB/s"), HasSubstr("2.000 us"),
                          HasSubstr("next:   leadline report run.h5")));
  result.cells.clear();
  EXPECT_THAT(collective_summary(result, ""), HasSubstr("nothing was measured\n"));
}

TEST(CollectiveText, ThePlanSaysWhatAndHowLong) {
  CollectiveRequest request;
  request.group_hosts = 2;
  const std::vector<std::uint32_t> host_of{0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
  const auto planned = bench::collective::plan(request, {10, 2, host_of}, std::vector<bool>(10, false));
  EXPECT_THAT(collective_plan_text(request, planned),
              AllOf(HasSubstr("Collective test of 10 ranks: allreduce, allgather, reduce-scatter, alltoall\n"),
                    HasSubstr("2 random groups of 4 ranks, at the same time\n"), HasSubstr(" 1 KiB, 4 MiB\n"),
                    HasSubstr("3 rounds of 10 batches with 20 operations each\n"), HasSubstr("Time: ")));
}

}  // namespace
}  // namespace leadline::test::collective_file_test
