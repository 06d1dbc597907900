// SPDX-License-Identifier: Apache-2.0
// Pieces of different lengths from different ranks reach their places, whichever way they go.
#include "result/shared_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_files.hpp"

namespace leadline::test {
namespace {

using result::OutputFile;
using result::PlacedBytes;
using result::SharedFile;
using testing::Each;
using testing::HasSubstr;

SharedFile open_shared(cluster::Cluster& cluster, const std::string& path, RowPath row_path) {
  std::optional<OutputFile> created;
  if (cluster.rank() == 0) {
    created = OutputFile::create(path, result::ExistingFile::overwrite);
    created->write_at(0, std::string_view("nonce"));
  }
  return SharedFile::open(cluster, path, std::move(created), {"nonce", 0}, row_path);
}

TEST(SharedFile, TakesPiecesOfAnyNumberAndLength) {
  for (const RowPath row_path : {RowPath::automatic, RowPath::funnel}) {
    const Folder folder;
    const auto errors = run_ranks({4}, [&](auto& cluster) {
      SharedFile file = open_shared(cluster, folder / "file", row_path);
      EXPECT_EQ(file.is_direct(), row_path == RowPath::automatic);
      const std::vector<std::vector<PlacedBytes>> of_rank{
          {{5, "a"}}, {}, {{7, "cc"}, {6, ""}, {12, "CCCC"}}, {{9, "ddd"}}};
      std::optional<Error> error;
      file.put(of_rank[static_cast<std::size_t>(cluster.rank())], error);
      EXPECT_FALSE(error);
      cluster.barrier();
    });
    EXPECT_THAT(errors, Each(""));
    EXPECT_EQ(contents_of(folder / "file"), std::string("noncea\0ccdddCCCC", 16));
  }
}

TEST(SharedFile, KeepsTheFirstErrorAndLeavesNoRankBehind) {
  const auto errors = run_ranks({3}, [](auto& cluster) {
    std::optional<OutputFile> full;
    if (cluster.rank() == 0) full = OutputFile::create("/dev/full", result::ExistingFile::overwrite);
    SharedFile file = SharedFile::open(cluster, "/dev/full", std::move(full), {"nonce", 0}, RowPath::automatic);
    EXPECT_FALSE(file.is_direct()) << "there is no nonce in it";
    const std::vector<PlacedBytes> own{{0, "x"}};
    std::optional<Error> error, older = Error(ExitStatus::run_failed, "older");
    file.put(own, error);
    file.put(own, older);
    EXPECT_EQ(error.has_value(), cluster.rank() == 0);
    if (error) {
      EXPECT_THAT(error->what(), HasSubstr("No space left on device"));
    }
    EXPECT_EQ(older->problem(), "older");
  });
  EXPECT_THAT(errors, Each(""));
}

}  // namespace
}  // namespace leadline::test
