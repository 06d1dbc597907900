// SPDX-License-Identifier: Apache-2.0
// Files and directories as a whole: what is there behind each phase, whose items a rank looks at, and what is left.
#include "storage/posix/metadata.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "bench/io/measured_ranks.hpp"
#include "bench/io/metadata_loop.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::io {
namespace {

using schedule::Movement;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t num_items = 5, item_bytes = 3901;

Setting metadata_setting(const test::Folder& folder, Movement movement) {
  Setting setting;
  setting.num_ranks = 4;
  setting.ranks_per_host = 2;
  setting.request.metadata = true;
  setting.request.movement = movement;
  setting.request.num_objects = num_items;
  setting.request.object_size_bytes = item_bytes;
  setting.request.sync = SyncTiming::none;
  setting.request.touch = memory::Touch::object;
  setting.request.timeout_s = 20;
  setting.request.target = folder / (movement == Movement::n_1 ? "items" : "items.%r");
  if (movement == Movement::n_m) setting.request.num_files = 2;
  return setting;
}

/// Paths below a folder, and the sizes of files.
std::map<std::string, std::uint64_t> what_is_in(const std::string& folder) {
  std::map<std::string, std::uint64_t> sizes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const bool is_file = entry.is_regular_file();
    sizes[std::filesystem::relative(entry.path(), folder).string()] = is_file ? entry.file_size() : 0;
  }
  return sizes;
}

std::string folder_of(const test::Folder& folder) { return std::filesystem::path(folder / "x").parent_path(); }

class MetadataOfMovement : public ::testing::TestWithParam<Movement> {};

TEST_P(MetadataOfMovement, MakesAndRemovesAllItems) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, GetParam());
  std::map<IoOperation, std::map<std::string, std::uint64_t>> there;
  setting.behind_phase = [&](const PhasePosition& position) {
    there[position.operation] = what_is_in(folder_of(folder));
  };
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);

  const auto directory_of = [&](int rank) {
    switch (GetParam()) {
      case Movement::n_1:
        return std::string("items");
      case Movement::n_m:
        return "items." + std::to_string(rank % 2);
      default:
        return "items." + std::to_string(rank);
    }
  };
  std::map<std::string, std::uint64_t> nothing, directories, files;
  for (int rank = 0; rank < setting.num_ranks; ++rank) nothing[directory_of(rank)] = 0;
  directories = files = nothing;
  for (int rank = 0; rank < setting.num_ranks; ++rank) {
    for (std::uint64_t number = 0; number < num_items; ++number) {
      const std::string end = "." + std::to_string(rank) + "." + std::to_string(number);
      directories[directory_of(rank) + "/directory" + end] = 0;
      files[directory_of(rank) + "/file" + end] = item_bytes;
    }
  }
  EXPECT_EQ(there[IoOperation::mkdir], directories);
  EXPECT_EQ(there[IoOperation::rmdir], nothing);
  for (const IoOperation operation :
       {IoOperation::create, IoOperation::stat, IoOperation::open, IoOperation::read_file}) {
    EXPECT_EQ(there[operation], files) << name_of(operation);
  }
  EXPECT_EQ(there[IoOperation::unlink], nothing);
  EXPECT_THAT(what_is_in(folder_of(folder)), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(IoMetadata, MetadataOfMovement, ::testing::Values(Movement::n_n, Movement::n_1, Movement::n_m),
                         [](const ::testing::TestParamInfo<Movement>& movement) {
                           std::string name = schedule::name_of(movement.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(IoMetadata, HasARateAndLatenciesOfEachOperation) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_1);
  setting.request.repeat = 2;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  const Measured& all = ranks[0].measured;
  ASSERT_THAT(all.phases, SizeIs(14));
  for (const PhaseSummary& phase : all.phases) {
    EXPECT_TRUE(phase.is_complete);
    EXPECT_EQ(phase.num_objects, 4 * num_items);
    EXPECT_EQ(phase.num_calls, 4 * num_items);
    EXPECT_DOUBLE_EQ(phase.operations_per_s, 1e9 * 4 * num_items / phase.io.max) << name_of(phase.position.operation);
    EXPECT_GT(phase.call_ns_max, 0);
    EXPECT_GE(phase.io.max, phase.call_ns_max);
    EXPECT_TRUE(std::isnan(phase.bytes_per_s));
    const IoOperation operation = phase.position.operation;
    const bool has_bytes = operation == IoOperation::create || operation == IoOperation::read_file;
    EXPECT_EQ(phase.bytes, has_bytes ? 4 * num_items * item_bytes : 0) << name_of(operation);
  }
  ASSERT_THAT(all.operations, SizeIs(7));
  for (const OperationSummary& operation : all.operations) {
    EXPECT_EQ(operation.num, 2u);
    EXPECT_TRUE(std::isnan(operation.median));
    EXPECT_GT(operation.operations_per_s.min, 0);
    EXPECT_GE(operation.operations_per_s.max, operation.operations_per_s.min);
  }
}

TEST(IoMetadata, NamesTheItemsOfSlowCalls) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_1);
  setting.request.items = MetadataItems::directories;
  setting.request.num_slow_calls = 100;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  std::set<std::string> items;
  for (const SlowCall& call : ranks[0].measured.phases.front().slow_calls) {
    EXPECT_EQ(call.offset_bytes, 0u);
    items.insert(call.file);
  }
  EXPECT_THAT(items, SizeIs(4 * num_items));
  EXPECT_EQ(items.count(folder / "items/directory.3.4"), 1u);
}

TEST(IoMetadata, MayBeOfFilesAlone) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_n);
  setting.request.items = MetadataItems::files;
  setting.request.object_size_bytes = 0;
  setting.request.sync = SyncTiming::inside;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  std::vector<IoOperation> operations;
  for (const PhaseSummary& phase : ranks[1].measured.phases) operations.push_back(phase.position.operation);
  EXPECT_THAT(operations, ElementsAre(IoOperation::create, IoOperation::stat, IoOperation::open, IoOperation::read_file,
                                      IoOperation::unlink));
  EXPECT_GT(ranks[1].measured.phases[0].times[static_cast<std::size_t>(IoTime::sync)].max, 0);
  EXPECT_EQ(ranks[1].measured.verified_bytes, 0u);
}

TEST(IoMetadata, ContentsAreCompared) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_n);
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  EXPECT_EQ(ranks[0].measured.verified_bytes, 4 * num_items * (item_bytes / 8 * 8));
}

/// After their creation.
std::string error_with(Setting& setting, const std::function<void()>& damage) {
  setting.behind_phase = [&](const PhasePosition& position) {
    if (position.operation == IoOperation::create) damage();
  };
  return error_of(measured(setting));
}

TEST(IoMetadata, RanksReadWhatOthersHaveMade) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_n);
  setting.request.read_shift = ReadShift::ranks;
  setting.request.read_shift_by = 3;
  const std::string path = folder / "items.3/file.3.2";
  const std::string error = error_with(setting, [&] {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000);
    file.put('\xff').put('\xfe').put('\xfd');
  });
  EXPECT_THAT(error, AllOf(HasSubstr("rank 0 on "), HasSubstr("object 2 of rank 3")));
  EXPECT_THAT(what_is_in(folder_of(folder)), IsEmpty());
}

TEST(IoMetadata, AFileThatIsTooShortIsFound) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_1);
  const std::string path = folder / "items/file.1.0";
  const std::string error = error_with(setting, [&] { std::filesystem::resize_file(path, item_bytes - 1); });
  EXPECT_THAT(error, AllOf(HasSubstr("rank 1 on "), HasSubstr(path + " is shorter than it was written")));
}

TEST(IoMetadata, AnItemThatIsGoneEndsTheRun) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_1);
  const std::string path = folder / "items/file.2.4";
  const std::string error = error_with(setting, [&] { std::filesystem::remove(path); });
  EXPECT_THAT(error, AllOf(HasSubstr("rank 2 on "), HasSubstr("looking at " + path + " failed")));
  EXPECT_THAT(what_is_in(folder_of(folder)), IsEmpty()) << "nothing is left behind an error";
}

TEST(IoMetadata, ADirectoryThatIsThereIsLeftAlone) {
  const test::Folder folder;
  std::filesystem::create_directory(folder / "items.2");
  std::ofstream(folder / "items.2/precious") << "precious";
  const std::string error = error_of(measured(metadata_setting(folder, Movement::n_n)));
  EXPECT_THAT(error, AllOf(HasSubstr("rank 2 on "), HasSubstr("making directory " + (folder / "items.2"))));
  const std::map<std::string, std::uint64_t> left{{"items.2", 0}, {"items.2/precious", 8}};
  EXPECT_EQ(what_is_in(folder_of(folder)), left);
}

TEST(IoMetadata, ATimeLimitEndsWhatMakesItems) {
  const test::Folder folder;
  Setting setting = metadata_setting(folder, Movement::n_n);
  setting.request.items = MetadataItems::files;
  setting.request.object_size_bytes = 0;
  setting.request.num_objects = 1 << 24;  // never done in time
  setting.request.time_limit_s = 0.02;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  const std::uint64_t num_made = ranks[0].store.rows.front().num_objects;
  EXPECT_GT(num_made, 0u);
  EXPECT_LT(num_made, setting.request.num_objects);
  for (const MeasuredRank& rank : ranks) {
    for (const RankPhase& row : rank.store.rows) EXPECT_EQ(row.num_objects, num_made);
  }
  EXPECT_TRUE(ranks[0].measured.phases.front().has_stop);
  EXPECT_FALSE(ranks[0].measured.phases.back().has_stop);
  EXPECT_THAT(what_is_in(folder_of(folder)), IsEmpty());
}

TEST(IoItemPath, IsADirectoryAKindARankAndANumber) {
  ItemPath file("/d", IoOperation::stat, 7);
  EXPECT_EQ(file.of(0), "/d/file.7.0");
  EXPECT_EQ(file.of(18446744073709551615u), "/d/file.7.18446744073709551615");
  EXPECT_EQ(file.of(12), "/d/file.7.12");
  EXPECT_EQ(ItemPath("d", IoOperation::rmdir, 0).of(1), "d/directory.0.1");
}

TEST(PosixMetadata, SaysWhatFailedWhereAndWhy) {
  const test::Folder folder;
  const std::string there = folder / "there";
  std::ofstream(there) << "x";
  const auto expect = [](const std::function<void()>& call, const std::string& problem, const std::string& why) {
    const std::string error = test::error_of(call).what();
    EXPECT_THAT(error, AllOf(HasSubstr(problem), HasSubstr(why)));
  };
  namespace posix = storage::posix;
  expect([&] { posix::create_file(there); }, "creating " + there + " failed", "File exists");
  expect([&] { posix::make_directory(there); }, "making directory " + there + " failed", "File exists");
  expect([&] { posix::remove_directory(there); }, "removing directory " + there + " failed", "Not a directory");
  const std::string none = folder / "none";
  expect([&] { posix::open_file(none); }, "opening " + none + " failed", "No such file");
  expect([&] { posix::stat_file(none); }, "looking at " + none + " failed", "No such file");
  expect([&] { posix::unlink_file(none); }, "removing " + none + " failed", "No such file");
  EXPECT_EQ(posix::stat_file(there), 1u);
}

}  // namespace
}  // namespace leadline::bench::io
