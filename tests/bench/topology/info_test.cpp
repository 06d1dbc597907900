// SPDX-License-Identifier: Apache-2.0
// What is said of a file with the result of a topology test, to people and to programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/topology/result_fixture.hpp"
#include "bench/topology/text.hpp"
#include "output/file_info.hpp"

namespace leadline::test::file_info_test {
namespace {

using bench::topology::Hdf5Reader;
using nlohmann::json;
using output::FileInfo;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<schedule::Topology> topologies = topologies_of_5();

FileInfo info_of(const std::string& path) {
  FileInfo info;
  info.path = path;
  info.kind = result::FileKind::hdf5;
  info.result = bench::topology::info_of(Hdf5Reader(path));
  return info;
}

std::string whole_run(const Folder& folder) {
  const std::string path = folder / "run.h5";
  run_ranks({5, 2}, [&](auto& cluster) { write_topologies(cluster, topology_setup(cluster, path, topologies)); });
  return path;
}

TEST(FileInfo, OfATopologyTestSaysWhatWasRunAndHowFastItWas) {
  const Folder folder;
  const std::string text = output::file_info_text(info_of(whole_run(folder)));
  EXPECT_THAT(text, AllOf(HasSubstr("result           topology test, format 1\n"), HasSubstr("complete         yes\n"),
                          HasSubstr("ranks            5 ranks on 3 hosts\n"),
                          HasSubstr("hosts            node0 (0-1), node1 (2-3), node2 (4)\n"),
                          HasSubstr("message sizes    8 B, 1 KiB, 4 KiB\n"),
                          HasSubstr("cells            2 repeats of 3 message sizes of 4 exchanges\n")));
  // 4 channels, 2 messages of 4096 bytes in 2 us
  EXPECT_THAT(text, HasSubstr("star      answered          4  15.26 GiB/s  15.26 GiB/s  3.815 GiB/s    4 KiB\n"));
  EXPECT_THAT(text, HasSubstr("edges     one-way           2"));
}

TEST(FileInfo, OfATopologyTestIsOneDocument) {
  const Folder folder;
  const json document = json::parse(output::file_info_json(info_of(whole_run(folder))));
  EXPECT_EQ(document["format"], "hdf5");
  const json result = document["result"];
  EXPECT_EQ(result["benchmark"], "topology");
  EXPECT_EQ(result["complete"], true);
  EXPECT_EQ(result["num_ranks"], 5);
  EXPECT_EQ(result["num_repeats"], 2);
  EXPECT_EQ(result["num_iterations"], 4);
  EXPECT_TRUE(result["num_load_points"].is_null());
  EXPECT_EQ(result["options"]["iterations"], "4");
  EXPECT_EQ(result["provenance"]["launcher"], "threads");
  EXPECT_EQ(result["hosts"].size(), 3U);
  ASSERT_EQ(result["topologies"].size(), 3U);
  EXPECT_EQ(result["topologies"][2]["name"], "edges");
  EXPECT_EQ(result["topologies"][2]["num_channels"], 2);
  EXPECT_TRUE(result["topologies"][2]["extents"].is_null());
  EXPECT_EQ(result["topologies"][2]["best"]["message_size_bytes"], 4096);
  EXPECT_DOUBLE_EQ(result["topologies"][2]["best"]["total_bytes_per_s"], 2 * 4096 / 2000e-9);
}

TEST(FileInfo, OfALoadThatFailedSaysWhyAndHowFarItCame) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  run_ranks({5}, [&](auto& cluster) {
    auto setup = topology_setup(cluster, path, topologies);
    setup.cells.clear();
    const auto file = bench::topology::open_topology_file(cluster, load_so_far(topologies), setup);
    file->write(0, load_point(0));
    file->write(1, load_point(1));
    cluster.barrier();
    if (cluster.rank() == 0) file->mark_incomplete("rank 3 is\x1b[31m gone");
  });
  const std::string text = output::file_info_text(info_of(path));
  EXPECT_THAT(
      text, AllOf(HasSubstr("complete         no: rank 3 is?[31m gone\n"),
                  HasSubstr("load             for 60 s, 2 points\n"), HasSubstr("No rates"), Not(HasSubstr("cells "))));
  const json result = json::parse(output::file_info_json(info_of(path)))["result"];
  EXPECT_EQ(result["num_load_points"], 2);
  EXPECT_TRUE(result["num_repeats"].is_null());
  EXPECT_TRUE(result["topologies"][0]["best"].is_null());
}

}  // namespace
}  // namespace leadline::test::file_info_test
