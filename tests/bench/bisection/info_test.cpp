// SPDX-License-Identifier: Apache-2.0
// What is said of a file with the result of a bisection test, to people and to programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/bisection/result_fixture.hpp"
#include "bench/bisection/text.hpp"
#include "output/file_info.hpp"

namespace leadline::test::file_info_bisection_test {
namespace {

using bench::bisection::Hdf5Reader;
using nlohmann::json;
using output::FileInfo;
using testing::AllOf;
using testing::HasSubstr;

FileInfo info_of(const std::string& path) {
  FileInfo info;
  info.path = path;
  info.kind = result::FileKind::hdf5;
  info.result = bench::bisection::info_of(Hdf5Reader(path));
  return info;
}

std::string whole_run(const Folder& folder) {
  const std::string path = folder / "run.h5";
  run_ranks({5, 2}, [&](auto& cluster) { write_bisection(cluster, bisection_setup(cluster, path)); });
  return path;
}

/// A run that failed behind its third pattern.
std::string failed_run(const Folder& folder) {
  const std::string path = folder / "run.h5";
  run_ranks({5}, [&](auto& cluster) {
    const auto file =
        bench::bisection::open_bisection_file(cluster, bisection_so_far(), bisection_setup(cluster, path));
    write_patterns(*file, cluster, 0, {0, 3});
    cluster.barrier();
    if (cluster.rank() == 0) file->mark_incomplete("rank 3 is\x1b[31m gone");
  });
  return path;
}

TEST(FileInfo, OfABisectionTestSaysWhatWasRunAndHowFastItWas) {
  const Folder folder;
  const std::string text = output::file_info_text(info_of(whole_run(folder)));
  EXPECT_THAT(
      text, AllOf(HasSubstr("result           bisection test, format 1\n"), HasSubstr("complete         yes\n"),
                  HasSubstr("ranks            5 ranks on 3 hosts\n"), HasSubstr("participants     4 ranks\n"),
                  HasSubstr("message sizes    8 B, 1 KiB, 4 KiB\n"),
                  HasSubstr("patterns         random,halves,shift:3; seed 18446744073709551615, 20 exchanges each\n")));
  // 2e9 +- 1e7 B/s
  EXPECT_THAT(
      text,
      HasSubstr("        8 B         6            4  1.863 ± 0.009   0.500 ± 0.004  0.900 ± 0.002  1.250  rounds\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "      4 KiB         0            0              -               -              -      -  not_stopped\n"));
}

TEST(FileInfo, OfABisectionTestIsOneDocument) {
  const Folder folder;
  const json document = json::parse(output::file_info_json(info_of(whole_run(folder))));
  EXPECT_EQ(document["format"], "hdf5");
  const json result = document["result"];
  EXPECT_EQ(result["benchmark"], "bisection");
  EXPECT_EQ(result["complete"], true);
  EXPECT_EQ(result["num_ranks"], 5);
  EXPECT_EQ(result["num_participants"], 4);
  EXPECT_EQ(result["num_exchanges"], 20);
  EXPECT_EQ(result["seed"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(result["pattern_names"], json({"halves", "shift:3"}));
  EXPECT_EQ(result["max_patterns"], max_patterns);
  EXPECT_EQ(result["options"]["rounds"], "4");
  EXPECT_EQ(result["provenance"]["launcher"], "threads");
  EXPECT_EQ(result["hosts"].size(), 3U);
  ASSERT_EQ(result["sizes"].size(), 3U);
  EXPECT_EQ(result["sizes"][1], json({{"message_size_bytes", 1024},
                                      {"num_patterns", 2},
                                      {"num_baseline", 2},
                                      {"stopped_by", "time_limit"},
                                      {"ebb", {{"num", 4}, {"bytes_per_s_mean", 2e9}, {"bytes_per_s_half_width", 1e7}}},
                                      {"static_share", {{"num", 3}, {"mean", 0.9}, {"half_width", 0.002}}},
                                      {"tail", 1.25},
                                      {"contention_share", {{"num", 3}, {"mean", 0.5}, {"half_width", 0.004}}},
                                      {"bytes_per_s_harmonic", 1.75e9}}));
  EXPECT_TRUE(result["sizes"][2]["ebb"]["bytes_per_s_mean"].is_null());
}

TEST(FileInfo, OfABisectionTestThatFailedSaysWhyAndHowFarItCame) {
  const Folder folder;
  const std::string path = failed_run(folder), text = output::file_info_text(info_of(path));
  EXPECT_THAT(text, AllOf(HasSubstr("complete         no: rank 3 is?[31m gone\n"), HasSubstr("No eBB"),
                          HasSubstr("        8 B         3            3  ")));
  const json size = json::parse(output::file_info_json(info_of(path)))["result"]["sizes"][0];
  EXPECT_EQ(size["num_patterns"], 3);
  EXPECT_EQ(size["num_baseline"], 3);
  EXPECT_TRUE(size["stopped_by"].is_null());
  EXPECT_TRUE(size["ebb"].is_null());
}

}  // namespace
}  // namespace leadline::test::file_info_bisection_test
