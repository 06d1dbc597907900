// SPDX-License-Identifier: Apache-2.0
// What is said of a file with the result of a parallel file test, to people and to programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/io/result_fixture.hpp"
#include "bench/io/text.hpp"
#include "output/file_info.hpp"

namespace leadline::test::file_info_io_test {
namespace {

using bench::io::Hdf5Reader;
using nlohmann::json;
using output::FileInfo;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

FileInfo info_of(const std::string& path) {
  FileInfo info;
  info.path = path;
  info.kind = result::FileKind::hdf5;
  info.result = bench::io::info_of(Hdf5Reader(path));
  return info;
}

std::string whole_run(const Folder& folder) {
  const std::string path = folder / "run.h5";
  run_ranks({5, 2}, [&](auto& cluster) { write_io(cluster, io_setup(cluster, path)); });
  return path;
}

/// A run that failed in its second phase.
std::string failed_run(const Folder& folder) {
  const std::string path = folder / "run.h5";
  run_ranks({5}, [&](auto& cluster) {
    const auto file = bench::io::open_io_file(cluster, io_so_far(), io_setup(cluster, path));
    write_phase(*file, cluster, phase_summary_of(0));
    write_phase(*file, cluster, failed_phase(1));
    if (cluster.rank() == 0) file->mark_incomplete("rank 3 is\x1b[31m gone");
  });
  return path;
}

TEST(FileInfo, OfAParallelFileTestSaysWhatWasRunAndHowFastItWas) {
  const Folder folder;
  const std::string text = output::file_info_text(info_of(whole_run(folder)));
  EXPECT_THAT(text,
              AllOf(HasSubstr("result           parallel file test, format 1\n"), HasSubstr("complete         yes\n"),
                    HasSubstr("ranks            5 ranks on 3 hosts\n"), HasSubstr("movement         N-M-1, strided\n"),
                    HasSubstr("objects          12 a rank, of 4 KiB\n"), HasSubstr("I/O ranks        0,3\n"),
                    HasSubstr("backend          POSIX\n"), HasSubstr("file system      ext4\n"),
                    HasSubstr("files            /scratch/leadline-io\n                 /scratch/two\n"),
                    HasSubstr("phases           4 of 6\n")));
  // 1e9 and 4e9 B/s
  EXPECT_THAT(text, HasSubstr("  write           0  1.0 MiB  0.931         0.931   1000000006  5.000 ms  durable\n"));
  EXPECT_THAT(text,
              HasSubstr("  read            1  1.0 MiB  3.725         3.725   4000000006  5.000 ms  from mixed\n"));
}

TEST(FileInfo, OfAParallelFileTestIsOneDocument) {
  const Folder folder;
  const json document = json::parse(output::file_info_json(info_of(whole_run(folder))));
  EXPECT_EQ(document["format"], "hdf5");
  const json result = document["result"];
  EXPECT_EQ(result["benchmark"], "io");
  EXPECT_EQ(result["complete"], true);
  EXPECT_EQ(result["num_ranks"], 5);
  EXPECT_EQ(result["movement"], "N-M-1");
  EXPECT_EQ(result["order"], "strided");
  EXPECT_EQ(result["backend_library"], "POSIX");
  EXPECT_EQ(result["file_system"], "ext4");
  EXPECT_EQ(result["num_objects"], 12);
  EXPECT_EQ(result["object_size_bytes"], 4096);
  EXPECT_EQ(result["run"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(result["io_ranks"], json({0, 3}));
  EXPECT_EQ(result["files"], json({"/scratch/leadline-io", "/scratch/two"}));
  EXPECT_EQ(result["num_phases"], 6);
  EXPECT_EQ(result["options"]["repeat"], "3");
  EXPECT_EQ(result["provenance"]["launcher"], "threads");
  EXPECT_EQ(result["hosts"].size(), 3U);
  ASSERT_EQ(result["phases"].size(), 4U);
  EXPECT_EQ(result["phases"][1], json({{"operation", "read"},
                                       {"repeat", 0},
                                       {"is_complete", true},
                                       {"is_interrupted", false},
                                       {"error", ""},
                                       {"bytes", 1 << 20},
                                       {"wall_ns", 5e6},
                                       {"bytes_per_s", 2e9},
                                       {"bytes_per_s_io", 2e9 + 2},
                                       {"bytes_per_s_wall", 2e9},
                                       {"num_objects", 256},
                                       {"operations_per_s", 2e9 + 6},
                                       {"source", "mixed"},
                                       {"is_durable", nullptr},
                                       {"num_mismatches", 0}}));
  EXPECT_EQ(result["phases"][2]["is_durable"], false);
}

TEST(FileInfo, OfAParallelFileTestThatFailedSaysWhyAndHowFarItCame) {
  const Folder folder;
  const std::string path = failed_run(folder), text = output::file_info_text(info_of(path));
  EXPECT_THAT(text,
              AllOf(HasSubstr("complete         no: rank 3 is?[31m gone\n"), HasSubstr("phases           2 of 6\n"),
                    HasSubstr("failed: reading FILE failed (Input/output error); 3 wrong objects; from mixed\n")));
  const json phase = json::parse(output::file_info_json(info_of(path)))["result"]["phases"][1];
  EXPECT_EQ(phase["is_complete"], false);
  EXPECT_TRUE(phase["bytes_per_s"].is_null());
  EXPECT_EQ(phase["num_mismatches"], 3);
}

TEST(FileInfo, OfAParallelFileTestWithoutFilesSaysNothingOfCacheAndStorage) {
  const Folder folder;
  run_ranks({2}, [&](auto& cluster) {
    bench::io::IoResult so_far = io_so_far(2);
    so_far.files.clear();
    so_far.backend_library = so_far.file_system = "";
    const auto file = bench::io::open_io_file(cluster, so_far, io_setup(cluster, folder / "run.h5"));
    write_phase(*file, cluster, phase_summary_of(0));
    write_phase(*file, cluster, failed_phase(1));
  });
  const std::string text = output::file_info_text(info_of(folder / "run.h5"));
  EXPECT_THAT(text, AllOf(HasSubstr("  5.000 ms\n"), HasSubstr("(Input/output error); 3 wrong objects\n"),
                          Not(HasSubstr("durable")), Not(HasSubstr("backend")), Not(HasSubstr("file system"))));
}

TEST(FileInfo, OfAParallelFileTestThatMeasuredNothingSaysSo) {
  const Folder folder;
  run_ranks({2}, [&](auto& cluster) {
    bench::io::IoResult so_far = io_so_far(2);
    so_far.request.movement = schedule::Movement::n_n;
    so_far.files = {"one", "two", "three", "four", "five", "six"};
    bench::io::open_io_file(cluster, so_far, io_setup(cluster, folder / "run.h5"));
  });
  const std::string text = output::file_info_text(info_of(folder / "run.h5"));
  EXPECT_THAT(text, AllOf(HasSubstr("No phase was measured."), HasSubstr("movement         N-N\n"),
                          HasSubstr("                 four\n                 and 2 more\n"), Not(HasSubstr("five"))));
}

}  // namespace
}  // namespace leadline::test::file_info_io_test
