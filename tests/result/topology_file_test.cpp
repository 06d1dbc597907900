// SPDX-License-Identifier: Apache-2.0
// Which kind of file a topology test gets, and what readers make of it.
#include "result/topology_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "result/link_result_reader.hpp"
#include "result/topology/hdf5_reader.hpp"
#include "topology_fixture.hpp"

namespace leadline::test::topology_file_test {
namespace {

using result::FileKind;
using result::LinkResultReader;
using result::topology::best_rates;
using result::topology::Hdf5Reader;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;
const std::vector<schedule::Topology> topologies = topologies_of_5();

std::vector<std::string> errors_of_writing(const std::string& path, ResultFormat format) {
  return run_ranks({num_ranks, 2}, [&](auto& cluster) {
    auto setup = topology_setup(cluster, path, topologies);
    setup.format = format;
    write_topologies(cluster, setup);
  });
}

template <typename Read>
std::string error_of(ExitStatus status, const Read& read) {
  try {
    (void)read();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  return "no error";
}

TEST(TopologyFile, IsOfTheKindAskedFor) {
  const Folder folder;
  EXPECT_THAT(errors_of_writing(folder / "run.h5", ResultFormat::hdf5), Each(""));
  EXPECT_THAT(errors_of_writing(folder / "run.json", ResultFormat::json), Each(""));
  EXPECT_THAT(errors_of_writing(folder / "none", ResultFormat::none), Each(""));
  EXPECT_EQ(result::kind_of_file(folder / "run.h5"), FileKind::hdf5);
  EXPECT_EQ(contents_of(folder / "run.json").front(), '{');
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST(TopologyFile, IsNotOfSion) {
  const Folder folder;
  const auto errors = errors_of_writing(folder / "run.sion", ResultFormat::sion);
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("cannot be kept as SION"), HasSubstr(".h5"), HasSubstr(".json"))));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.sion"));
}

TEST(TopologyFile, IsRefusedByReadersOfLinkTestsAndTheOtherWayRound) {
  const Folder folder;
  const std::string path = folder / "run.h5", link = folder / "link.h5";
  errors_of_writing(path, ResultFormat::hdf5);
  run_ranks({2}, [&](auto& cluster) { result::Hdf5Store(cluster, result_so_far(2), setup_for(cluster, link)); });
  EXPECT_EQ(result::benchmark_of(path, FileKind::hdf5), "topology");
  EXPECT_EQ(result::benchmark_of(link, FileKind::hdf5), "link");
  EXPECT_EQ(result::benchmark_of("anything", FileKind::sion), "link");
  EXPECT_THAT(error_of(ExitStatus::bad_command_line, [&] { return LinkResultReader::open(path); }),
              AllOf(HasSubstr(path), HasSubstr("leadline topology"), HasSubstr("leadline info")));
  EXPECT_THAT(error_of(ExitStatus::bad_command_line, [&] { return Hdf5Reader(link).num_load_points(); }),
              AllOf(HasSubstr(link), HasSubstr("leadline link")));
}

TEST(TopologyFile, IsReadAsFarAsADescriptionTakes) {
  const Folder folder;
  errors_of_writing(folder / "run.h5", ResultFormat::hdf5);
  const Hdf5Reader reader(folder / "run.h5");
  const result::topology::Header& header = reader.header();
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
    const auto file = result::open_topology_file(cluster, load_so_far(topologies), setup);
    for (int number = 0; number < 3; ++number) file->write(static_cast<std::size_t>(number), load_point(number));
  });
  const Hdf5Reader reader(folder / "run.h5");
  EXPECT_TRUE(reader.header().has_load);
  EXPECT_FALSE(reader.header().complete);
  EXPECT_EQ(reader.num_load_points(), 3U);
  for (const auto& best : best_rates(reader.header(), reader.path())) EXPECT_FALSE(best);
}

TEST(BestRates, ComeFromTheLoadWhereThereAreNoCells) {
  result::topology::Header header = result::topology::header_of(load_so_far(topologies));
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
  result::topology::Header header = result::topology::header_of(topology_so_far(topologies));
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
  const std::string path = whole + ".damaged";
  std::filesystem::copy_file(whole, path, std::filesystem::copy_options::overwrite_existing);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  damage(file);
  H5Fclose(file);
  const std::string said = error_of(ExitStatus::run_failed, [&] { return Hdf5Reader(path).num_load_points(); });
  EXPECT_THAT(said, HasSubstr(path));
  return said;
}

TEST(TopologyFile, ThatIsDamagedIsAnError) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  errors_of_writing(path, ResultFormat::hdf5);
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
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THAT(error_of(ExitStatus::run_failed, [&] { return Hdf5Reader(path).num_load_points(); }),
              HasSubstr("truncated"));
}

}  // namespace
}  // namespace leadline::test::topology_file_test
