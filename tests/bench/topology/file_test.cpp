// SPDX-License-Identifier: Apache-2.0
// What readers make of the file of a topology test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/topology/hdf5_reader.hpp"
#include "bench/topology/output.hpp"
#include "bench/topology/result_fixture.hpp"

namespace leadline::test::topology_file_test {
namespace {

using bench::topology::best_rates;
using bench::topology::Hdf5Reader;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;
const std::vector<schedule::Topology> topologies = topologies_of_5();

void write_file(const std::string& path) {
  run_ranks({num_ranks, 2},
            [&](auto& cluster) { write_topologies(cluster, topology_setup(cluster, path, topologies)); });
}

TEST(TopologyFile, IsReadAsFarAsADescriptionTakes) {
  const Folder folder;
  write_file(folder / "run.h5");
  const Hdf5Reader reader(folder / "run.h5");
  const bench::topology::Header& header = reader.header();
  EXPECT_TRUE(header.complete);
  EXPECT_EQ(header.num_ranks, num_ranks);
  EXPECT_EQ(header.num_repeats, 2);
  EXPECT_EQ(header.num_iterations, 4);
  EXPECT_FALSE(header.has_load);
  EXPECT_EQ(reader.num_load_points(), 0U);
  EXPECT_THAT(header.message_sizes_bytes, ElementsAre(8, 1024, 4096));
  ASSERT_EQ(header.topologies.size(), 3U);
  EXPECT_EQ(header.topologies[2].name, "edges");
  EXPECT_EQ(header.topologies[2].mode, "one-way");
  EXPECT_EQ(header.topologies[2].num_channels, 2);
  EXPECT_EQ(header.topologies[2].num_ways, 1);
  EXPECT_EQ(reader.placement(4).host, "node2");

  const auto best = best_rates(header, reader.path());
  ASSERT_TRUE(best.at(0));
  EXPECT_EQ(best[0]->message_size_bytes, 4096U);
  EXPECT_EQ(best[0]->repeat, 0);
  EXPECT_DOUBLE_EQ(best[0]->rates.total, 4 * 2 * 4096 / 2000e-9);
  EXPECT_DOUBLE_EQ(best[0]->rates.local, 4 * 2 * 4096 / 2000e-9);
  EXPECT_DOUBLE_EQ(best[1]->rates.total, 2 * 2 * 4096 / 2000e-9);
  EXPECT_DOUBLE_EQ(best[1]->rates.local, 2 * 4096 / 2000e-9);
  EXPECT_DOUBLE_EQ(best[2]->rates.average, 4096 / 2000e-9);
}

TEST(TopologyFile, OfALoadThatWasKilledHasItsPointsAndNoRates) {
  const Folder folder;
  run_ranks({num_ranks}, [&](auto& cluster) {
    auto setup = topology_setup(cluster, folder / "run.h5", topologies);
    setup.cells.clear();
    const auto file = bench::topology::open_topology_file(cluster, load_so_far(topologies), setup);
    for (int number = 0; number < 3; ++number) file->write(static_cast<std::size_t>(number), load_point(number));
  });
  const Hdf5Reader reader(folder / "run.h5");
  EXPECT_TRUE(reader.header().has_load);
  EXPECT_FALSE(reader.header().complete);
  EXPECT_EQ(reader.num_load_points(), 3U);
  for (const auto& best : best_rates(reader.header(), reader.path())) EXPECT_FALSE(best);
}

TEST(BestRates, ComeFromTheLoadWhereThereAreNoCells) {
  bench::topology::Header header = bench::topology::header_of(load_so_far(topologies));
  header.summary = R"({"cells": [], "load": [
    {"topology_index": 0, "repeat": 0, "message_size_bytes": 8, "total_bytes_per_s": 100.0},
    {"topology_index": 0, "repeat": 3, "message_size_bytes": 16, "total_bytes_per_s": 400.0},
    {"topology_index": 0, "repeat": 4, "message_size_bytes": 32, "total_bytes_per_s": null}]})";
  const auto best = best_rates(header, "run.h5");
  ASSERT_TRUE(best.at(0));
  EXPECT_EQ(best[0]->repeat, 3);
  EXPECT_EQ(best[0]->message_size_bytes, 16U);
  EXPECT_EQ(best[0]->rates.average, 100);
  EXPECT_FALSE(best[1]);
}

TEST(BestRates, OfADamagedSummaryAreAnError) {
  bench::topology::Header header = bench::topology::header_of(topology_so_far(topologies));
  for (const char* summary :
       {"{", "[]", R"({"cells": 3})", R"({"cells": [3], "load": []})",
        R"({"cells": [], "load": [{"topology_index": 7, "total_bytes_per_s": 1}]})",
        R"({"cells": [], "load": [{"topology_index": -1, "total_bytes_per_s": 1}]})",
        R"({"cells": [{"topology_index": 0, "exchange": {"at_median": {"total_bytes_per_s": "1"}}}], "load": []})"}) {
    header.summary = summary;
    EXPECT_THAT(error_of(ExitStatus::run_failed, [&] { return best_rates(header, "run.h5"); }),
                AllOf(HasSubstr("run.h5"), HasSubstr("/summary")))
        << summary;
  }
}

/// What reading says of a file from which something was taken.
std::string error_after(const std::string& whole, const std::function<void(hid_t file)>& damage) {
  return error_of_damaged(whole, damage, [](const std::string& path) { return Hdf5Reader(path).num_load_points(); });
}

TEST(TopologyFile, ThatIsDamagedIsAnError) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  write_file(path);
  const auto without = [&](const char* object) {
    return error_after(path, [&](hid_t file) { H5Ldelete(file, object, H5P_DEFAULT); });
  };
  EXPECT_THAT(without("topologies/0000"), HasSubstr("no topology"));
  EXPECT_THAT(without("topologies/0000/exchange_time_ns"), HasSubstr("exchange_time_ns"));
  EXPECT_THAT(without("message_size_bytes"), HasSubstr("message_size_bytes"));
  EXPECT_THAT(
      error_after(path, [](hid_t file) { H5Adelete_by_name(file, "topologies/0002", "num_ways", H5P_DEFAULT); }),
      AllOf(HasSubstr("/topologies/0002"), HasSubstr("num_ways")));
  const auto without_channels = [](hid_t file) {
    H5Adelete_by_name(file, "topologies/0001", "num_channels", H5P_DEFAULT);
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate_by_name(file, "topologies/0001", "num_channels", H5T_NATIVE_LLONG, scalar,
                                              H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const long long none = 0;
    H5Awrite(attribute, H5T_NATIVE_LLONG, &none);
    H5Aclose(attribute);
    H5Sclose(scalar);
  };
  EXPECT_THAT(error_after(path, without_channels), AllOf(HasSubstr("/topologies/0001"), HasSubstr("no channels")));
}

}  // namespace
}  // namespace leadline::test::topology_file_test
