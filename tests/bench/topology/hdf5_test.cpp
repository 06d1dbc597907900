// SPDX-License-Identifier: Apache-2.0
// What all ranks write of a topology test is what the HDF5 library reads: lists, matrices, load, marks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "bench/topology/hdf5_store.hpp"
#include "bench/topology/json.hpp"
#include "bench/topology/result_fixture.hpp"

namespace leadline::test::topology_hdf5_test {
namespace {

using bench::topology::Hdf5Store;
using bench::topology::TopologyFileSetup;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;
const std::vector<schedule::Topology> topologies = topologies_of_5();

void expect_no_errors(const std::vector<std::string>& errors) { EXPECT_THAT(errors, Each("")); }

std::string group_of(std::size_t topology) { return fmt::format("/topologies/{:04}", topology); }

void expect_channels(const Reader& reader, const std::string& group, const schedule::Topology& topology) {
  std::vector<int> row_start{0}, partner, starts;
  for (int rank = 0; rank < topology.num_ranks(); ++rank) {
    for (const schedule::Channel& channel : topology.channels(rank)) {
      partner.push_back(channel.partner);
      starts.push_back(channel.starts ? 1 : 0);
    }
    row_start.push_back(static_cast<int>(partner.size()));
  }
  EXPECT_EQ(reader.number_attribute(group, "num_channels"), static_cast<double>(partner.size()) / 2);
  EXPECT_EQ(reader.number_attribute(group, "max_channels_rank"), topology.max_channels());
  EXPECT_EQ(reader.text_attribute(group, "name"), topology.spec().name);
  EXPECT_EQ(reader.text_attribute(group, "shape"), name_of(topology.spec().shape));
  EXPECT_EQ(reader.text_attribute(group, "mode"), name_of(topology.spec().mode));
  EXPECT_EQ(reader.number_attribute(group, "num_ways"), num_ways(topology.spec().mode));
  EXPECT_EQ(reader.ints(group + "/row_start"), row_start);
  EXPECT_EQ(reader.ints(group + "/partner"), partner);
  EXPECT_EQ(reader.ints(group + "/starts"), starts);
}

struct Matrices {
  Matrices(const Reader& reader, const std::string& group)
      : arrival(reader.doubles(group + "/arrival_time_ns")),
        exchange(reader.doubles(group + "/exchange_time_ns")),
        with_barrier(reader.doubles(group + "/exchange_with_barrier_time_ns")) {
    for (const char* name : {"min", "median", "mean", "p99", "max"}) {
      rank_times.push_back(reader.doubles(group + "/rank_time_ns_" + name));
    }
  }

  std::vector<double> arrival, exchange, with_barrier;
  std::vector<std::vector<double>> rank_times;
};

/// The row of a cell in a matrix of these.
std::vector<double> row_of(const std::vector<double>& matrix, const bench::topology::Cell& cell) {
  const auto length = static_cast<std::ptrdiff_t>(matrix.size() / 6);  // 2 repeats of 3 sizes
  const auto begin = matrix.begin() + length * (3 * cell.repeat + cell.size_index);
  return {begin, begin + length};
}

void expect_cell(const Matrices& matrices, const bench::topology::Cell& cell, const schedule::Topology& topology) {
  std::vector<double> arrivals, exchanges, with_barrier;
  std::vector<std::vector<double>> rank_times(5);
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto num_channels = static_cast<std::size_t>(topology.num_channels(rank));
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      arrivals.push_back(arrival_of(cell, rank, channel));
    }
    const double median = num_channels > 0 ? rank_time_of(cell, rank) : 0;
    const std::vector<double> around{-0.5, 0, 0.125, 0.25, 0.5};
    for (std::size_t which = 0; which < 5; ++which) {
      rank_times[which].push_back(num_channels > 0 ? median + around[which] : 0);
    }
  }
  for (std::size_t iteration = 0; iteration < 4; ++iteration) {
    exchanges.push_back(exchange_time_of(cell, iteration));
    with_barrier.push_back(exchange_time_of(cell, iteration) + 500);
  }
  EXPECT_EQ(row_of(matrices.arrival, cell), arrivals);
  EXPECT_EQ(row_of(matrices.exchange, cell), exchanges);
  EXPECT_EQ(row_of(matrices.with_barrier, cell), with_barrier);
  for (std::size_t which = 0; which < 5; ++which) {
    EXPECT_EQ(row_of(matrices.rank_times[which], cell), rank_times[which]);
  }
}

void expect_everything(const Reader& reader) {
  const std::vector<bench::topology::Cell> cells = cells_of(topology_so_far(topologies));
  for (std::size_t index = 0; index < topologies.size(); ++index) {
    SCOPED_TRACE(group_of(index));
    expect_channels(reader, group_of(index), topologies[index]);
    const Matrices matrices(reader, group_of(index));
    for (const bench::topology::Cell& cell : cells) {
      if (std::cmp_equal(cell.topology_index, index)) expect_cell(matrices, cell, topologies[index]);
    }
  }
}

TEST(TopologyHdf5, GivesBackEverythingThatAllRanksWrote) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks(
      {num_ranks, 2}, [&](auto& cluster) { write_topologies(cluster, topology_setup(cluster, path, topologies)); }));

  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  EXPECT_EQ(reader.text_attribute("/", "benchmark"), "topology");
  EXPECT_EQ(reader.text_attribute("/", "format"), "leadline");
  EXPECT_EQ(reader.number_attribute("/", "format_version"), 1);
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(1));
  EXPECT_THAT(reader.texts("/status/reason"), ElementsAre(""));
  EXPECT_EQ(reader.text_attribute("/provenance", "end_utc"), "2026-01-31T23:59:59Z");
  EXPECT_EQ(reader.number_attribute("/provenance", "num_ranks"), num_ranks);
  EXPECT_EQ(reader.text_attribute("/options", "pattern"), "star,star2,complete,complete2,ring,ring2");
  EXPECT_EQ(reader.text_attribute("/options", "iterations"), "4");
  EXPECT_THAT(reader.ints("/message_size_bytes"), ElementsAre(8, 1024, 4096));
  EXPECT_THAT(reader.ints("/ranks/pid"), ElementsAre(100, 101, 102, 103, 104));
  EXPECT_THAT(reader.shape("/topologies/0000/arrival_time_ns"), ElementsAre(2, 3, 8));
  EXPECT_THAT(reader.shape("/topologies/0001/rank_time_ns_p99"), ElementsAre(2, 3, num_ranks));
  EXPECT_THAT(reader.shape("/topologies/0002/exchange_time_ns"), ElementsAre(2, 3, 4));
  EXPECT_FALSE(reader.has("/topologies/0003"));
  EXPECT_FALSE(reader.has("/load"));
  EXPECT_FALSE(reader.has("/topologies/0000/extents"));
  expect_everything(reader);
  EXPECT_EQ(reader.variable_text("/summary"), bench::topology::json_text(finished(topology_so_far(topologies))));
}

TEST(TopologyHdf5, HasTheExtentsOfATorus) {
  const Folder folder;
  const std::vector<schedule::Topology> torus{
      {{.name = "torus:3x2", .shape = schedule::Shape::torus, .extents = {3, 2}}, 6}};
  expect_no_errors(run_ranks(
      {6}, [&](auto& cluster) { write_topologies(cluster, topology_setup(cluster, folder / "run.h5", torus)); }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.ints("/topologies/0000/extents"), ElementsAre(3, 2));
  expect_channels(reader, "/topologies/0000", torus.front());
}

TEST(TopologyHdf5, IsAHoleUntilWritten) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    bench::topology::TopologyResult so_far = topology_so_far(topologies);
    so_far.request.num_iterations = 1'000'000;
    Hdf5Store(cluster, so_far, topology_setup(cluster, folder / "run.h5", topologies));
  }));
  struct stat status {};
  ASSERT_EQ(::stat((folder / "run.h5").c_str(), &status), 0);
  EXPECT_GT(status.st_size, 3 * 6 * 2 * 8 * 1'000'000L);
  EXPECT_LT(status.st_blocks * 512, status.st_size / 1000);
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.doubles("/topologies/0000/arrival_time_ns"), Each(0));
  expect_channels(reader, "/topologies/0002", topologies[2]);
}

TEST(TopologyHdf5, KeepsTheLoadAsItComes) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    TopologyFileSetup setup = topology_setup(cluster, path, topologies);
    setup.cells.clear();
    Hdf5Store store(cluster, load_so_far(topologies), setup);
    for (const int number : {0, 1, 1, 2}) {  // as where the root has changed
      store.write(static_cast<std::size_t>(number),
                  cluster.rank() == 0 ? load_point(number) : bench::topology::LoadPoint{});
    }
  }));
  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  expect_channels(reader, "/topologies/0001", topologies[1]);
  EXPECT_FALSE(reader.has("/topologies/0000/arrival_time_ns"));
  EXPECT_FALSE(reader.has("/topologies/0000/exchange_time_ns"));
  EXPECT_THAT(reader.shape("/load/elapsed_s"), ElementsAre(bench::topology::max_load_points));
  const auto first_4 = [](auto values) {
    values.resize(4);
    return values;
  };
  EXPECT_THAT(first_4(reader.ints("/load/topology_index")), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(first_4(reader.ints("/load/size_index")), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(first_4(reader.ints("/load/repeat")), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(first_4(reader.ints("/load/num_channels")), ElementsAre(10, 11, 12, 0));
  EXPECT_THAT(first_4(reader.ints("/load/max_channels_rank")), ElementsAre(4, 4, 4, 0));
  EXPECT_THAT(first_4(reader.ints("/load/num_exchanges")), ElementsAre(1000, 1001, 1002, 0));
  EXPECT_THAT(first_4(reader.ints("/load/num_verified")), ElementsAre(500, 501, 502, 0));
  EXPECT_THAT(first_4(reader.doubles("/load/begin_s")), ElementsAre(0.5, 1.5, 2.5, 0));
  EXPECT_THAT(first_4(reader.doubles("/load/elapsed_s")), ElementsAre(1.25, 1.25, 1.25, 0));
  EXPECT_THAT(first_4(reader.doubles("/load/time_ns_median")), ElementsAre(2000, 2001, 2002, 0));
  EXPECT_THAT(first_4(reader.doubles("/load/time_ns_max")), ElementsAre(9000, 9001, 9002, 0));
}

TEST(TopologyHdf5, HasNoRoomForMorePointsOfLoadThanItSays) {
  const Folder folder;
  const auto errors = run_ranks({1}, [&](auto& cluster) {
    const std::vector<schedule::Topology> of_2{{{.name = "ring", .shape = schedule::Shape::ring}, 2}};
    TopologyFileSetup setup = topology_setup(cluster, folder / "run.h5", of_2);
    setup.cells.clear();
    bench::topology::TopologyResult so_far = load_so_far(of_2);
    so_far.topologies.clear();
    Hdf5Store store(cluster, so_far, setup);
    for (std::size_t number = 0; number <= bench::topology::max_load_points; ++number)
      store.write(number, load_point(0));
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("run.h5"), HasSubstr("4096"))));
}

TEST(TopologyHdf5, ACellOfAnotherShapeIsAnErrorAndLeavesTheOthers) {
  const Folder folder;
  const auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
    const TopologyFileSetup setup = topology_setup(cluster, folder / "run.h5", topologies);
    Hdf5Store store(cluster, topology_so_far(topologies), setup);
    const std::vector<double> three(3, 1.0);
    bench::topology::CellRow row;
    if (cluster.rank() == 2) row.arrival_ns = three;
    store.write(0, row, summary_of(setup.cells[0]));
    if (cluster.rank() != 2) write_cell(store, cluster, 1, setup.cells[1], topologies);
  });
  EXPECT_THAT(errors[2], AllOf(HasSubstr("run.h5"), HasSubstr("rank 2")));
  EXPECT_EQ(errors[0], "");
  EXPECT_THAT(Reader(folder / "run.h5").doubles("/topologies/0000/arrival_time_ns"), Each(0));
}

TEST(TopologyHdf5, AKillLeavesAFileThatOpensWithTheCellsSoFar) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_left_by_a_kill(path, num_ranks, [&](auto& cluster) {
    const TopologyFileSetup setup = topology_setup(cluster, path, topologies);
    Hdf5Store store(cluster, topology_so_far(topologies), setup);
    for (std::size_t index = 0; index < 4; ++index) {
      write_cell(store, cluster, index, setup.cells[index], topologies);
    }
    kill_rank_2(cluster);
  });
  const Reader reader(path);
  const std::vector<bench::topology::Cell> cells = cells_of(topology_so_far(topologies));
  for (std::size_t index = 0; index < 4; ++index) {
    const auto topology = static_cast<std::size_t>(cells[index].topology_index);
    expect_cell(Matrices(reader, group_of(topology)), cells[index], topologies[topology]);
  }
  const Matrices second(reader, group_of(1));
  EXPECT_THAT(row_of(second.arrival, cells[4]), Each(0));
  EXPECT_THAT(row_of(second.exchange, cells[4]), Each(0));
}

}  // namespace
}  // namespace leadline::test::topology_hdf5_test
