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

TEST(SharedFile, HasOneWritingRankAHostWhereThereIsMuch) {
  constexpr std::size_t size = (std::size_t{5} << 18) + 3;  // so that three ranks have several pieces and no multiple
  const Folder folder;
  const auto bytes_of_rank = [](int rank) { return std::string(size, static_cast<char>('a' + rank)); };
  const auto errors = run_ranks({6, 3}, [&](auto& cluster) {
    SharedFile file = open_shared(cluster, folder / "file", RowPath::automatic);
    const auto host_of = cluster.host_of();
    const bool is_first =
        std::ranges::find(host_of, host_of[static_cast<std::size_t>(cluster.rank())]) - host_of.begin() ==
        cluster.rank();
    if (!is_first) file.file()->close();  // what it wrote by itself would fail
    for (const std::uint64_t place : {5 + 6 * size, std::size_t{5}}) {
      std::optional<Error> error;
      file.put([&](int rank) { return place + static_cast<std::uint64_t>(rank) * size; }, bytes_of_rank(cluster.rank()),
               error);
      EXPECT_FALSE(error);
    }
    std::optional<Error> error;
    file.put([&](int rank) { return 5 + 12 * size + static_cast<std::uint64_t>(rank); }, "x", error);
    EXPECT_EQ(error.has_value(), !is_first) << "of little each rank writes its own";
    cluster.barrier();
  });
  EXPECT_THAT(errors, Each(""));
  std::string expected = "nonce";
  for (int time = 0; time < 2; ++time) {
    for (int rank = 0; rank < 6; ++rank) expected += bytes_of_rank(rank);
  }
  EXPECT_TRUE(contents_of(folder / "file").substr(0, expected.size()) == expected);
}

TEST(GatheredWrites, EndAtMultiplesOfAMebibyteWhereThereIsSoMuch) {
  constexpr std::uint64_t mebi = 1 << 20;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written;
  result::GatheredWrites writes(
      [&](std::uint64_t offset, std::string_view bytes) { written.emplace_back(offset, bytes.size()); });
  const std::string row(mebi / 4, 'r');
  for (std::uint64_t number = 0; number < 13; ++number) writes.add(100 + number * row.size(), row);
  writes.add(9 * mebi, std::string(2 * mebi + 7, 'l'));
  writes.add(20 * mebi, "s");
  writes.flush();
  writes.flush();
  using testing::Pair;
  EXPECT_THAT(written, testing::ElementsAre(Pair(100, 2 * mebi - 100), Pair(2 * mebi, mebi),
                                            Pair(3 * mebi, mebi / 4 + 100), Pair(9 * mebi, mebi), Pair(10 * mebi, mebi),
                                            Pair(11 * mebi, 7), Pair(20 * mebi, 1)));
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
