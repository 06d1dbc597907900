// SPDX-License-Identifier: Apache-2.0
// A JSON file is a valid document from its creation on, and one document goes to standard output.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "bench/link/json.hpp"
#include "bench/link/result_fixture.hpp"

namespace leadline::test::json_store_test {
namespace {

using bench::link::JsonStore;
using nlohmann::json;
using result::ExistingFile;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

json document_at(const std::string& path) { return json::parse(contents_of(path)); }

TEST(JsonStore, HoldsAValidDocumentFromItsCreationOn) {
  const Folder folder;
  const std::string path = folder / "run.json";
  const auto errors = run_ranks({3}, [&](auto& cluster) {
    JsonStore store(cluster, result_so_far(3), setup_for(cluster, path));
    if (cluster.rank() == 0) {
      EXPECT_EQ(document_at(path)["complete"], false);
      EXPECT_EQ(document_at(path)["incomplete_reason"], "still running, or killed without a word");
      EXPECT_EQ(document_at(path)["provenance"]["launcher"], "threads");
    }
    cluster.barrier();
    store.reserve_repeats(1);
    store.write({}, PairRow(3));
    store.finish(finished(result_so_far(3)));
    store.mark_incomplete("too late");
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_EQ(contents_of(path), bench::link::json_text(finished(result_so_far(3))));
}

TEST(JsonStore, SaysWhyItIsIncomplete) {
  const Folder folder;
  const std::string path = folder / "run.json";
  const auto errors = run_ranks({2}, [&](auto& cluster) {
    JsonStore store(cluster, result_so_far(2), setup_for(cluster, path));
    std::thread([&] { store.mark_incomplete("short"); }).join();
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_EQ(document_at(path)["incomplete_reason"], "short");
  EXPECT_EQ(contents_of(path).back(), '\n');
  EXPECT_NE(contents_of(path).rfind("}\n\n"), contents_of(path).size() - 3);
}

TEST(JsonStore, RefusesAnExistingFileAndReplacesItWhereAllowed) {
  const Folder folder;
  const std::string path = folder / "run.json";
  std::ofstream(path) << std::string(1 << 16, 'x');
  const auto create = [&](ExistingFile existing) {
    return run_ranks({2}, [&](auto& cluster) {
      auto setup = setup_for(cluster, path);
      setup.existing = existing;
      JsonStore(cluster, result_so_far(2), setup);
    });
  };
  EXPECT_THAT(create(ExistingFile::refuse), Each(AllOf(HasSubstr(path), HasSubstr("--overwrite"))));
  EXPECT_THAT(create(ExistingFile::overwrite), Each(""));
  EXPECT_EQ(document_at(path)["complete"], false);
}

TEST(JsonStore, FindsAFullDiskBeforeMeasuring) {
  const auto errors = run_ranks({2}, [](auto& cluster) {
    auto setup = setup_for(cluster, "/dev/full");
    setup.existing = ExistingFile::overwrite;
    JsonStore(cluster, result_so_far(2), setup);
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("/dev/full"), HasSubstr("No space left on device"), HasSubstr("--output"))));
}

TEST(JsonStore, WritesOneDocumentToStandardOutput) {
  ::testing::internal::CaptureStdout();
  const auto errors = run_ranks({2}, [](auto& cluster) {
    JsonStore store(cluster, result_so_far(2), setup_for(cluster, "-"));
    store.finish(finished(result_so_far(2)));
    store.mark_incomplete("too late");
  });
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), bench::link::json_text(finished(result_so_far(2))));
  EXPECT_THAT(errors, Each(""));
}

TEST(JsonStore, WritesTheReasonToStandardOutputWhenARunFails) {
  ::testing::internal::CaptureStdout();
  run_ranks({2}, [](auto& cluster) {
    JsonStore store(cluster, result_so_far(2), setup_for(cluster, "-"));
    cluster.barrier();
    if (cluster.rank() == 1) store.mark_incomplete("rank 0 is gone");
    cluster.barrier();
  });
  EXPECT_EQ(json::parse(::testing::internal::GetCapturedStdout())["incomplete_reason"], "rank 0 is gone");
}

}  // namespace
}  // namespace leadline::test::json_store_test
