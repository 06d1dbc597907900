// SPDX-License-Identifier: Apache-2.0
// The parallel file test with several calls of a rank under way, which are done in another order than they began: by
// io_uring where the kernel has it, and by files that tell of the last call first and fail when they are told to.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "bench/io/documented_files.hpp"

namespace leadline::bench::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr int depth = 4;

Setting setting_with(const IoRequest& request, Faults& faults) {
  Setting setting = setting_for(request);
  setting.backend = [&faults](int rank) {
    return std::make_unique<FaultyBackend>(posix_backend(rank, Documented::num_ranks), rank, faults);
  };
  return setting;
}

IoRequest queued_request(const test::Folder& folder, Movement movement) {
  IoRequest request = request_in(folder, movement);
  request.queue_depth = depth;
  request.num_objects = 23;
  return request;
}

/// Empty where the kernel takes such calls.
std::string why_no_queue() {
  const test::Folder folder;
  try {
    storage::OpenFile file;
    file.path = folder / "file";
    file.completion = storage::Completion::any_order;
    posix_backend(0, 1)->open(file);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

enum class By : std::uint8_t { io_uring, last_first };

class QueuedCalls : public ::testing::TestWithParam<std::tuple<By, Movement>> {
 protected:
  void SetUp() override {
    if (std::get<By>(GetParam()) == By::last_first) return;
    const std::string why = why_no_queue();
    if (!why.empty()) GTEST_SKIP() << why;
  }
  IoRequest request() const { return queued_request(folder_, std::get<Movement>(GetParam())); }
  Setting setting(const IoRequest& request) {
    return std::get<By>(GetParam()) == By::io_uring ? setting_for(request) : setting_with(request, faults_);
  }

  test::Folder folder_;
  Faults faults_;
};

TEST_P(QueuedCalls, WriteWhereTheDocumentsSayAndReadItAgain) { run_and_expect_files(setting(request()), folder_); }

TEST_P(QueuedCalls, MayBeMoreThanThereAreObjects) {
  IoRequest few = request();
  few.num_objects = 3;
  few.queue_depth = 64;
  run_and_expect_files(setting(few), folder_);
}

TEST_P(QueuedCalls, MayTakeObjectsAtRandomAndInBlocks) {
  IoRequest random = request();
  random.random_seed = 3;
  if (random.movement != Movement::n_n) {
    random.num_objects = 24;
    random.order = Order::strided;
    random.block_size_bytes = 3 * random.object_size_bytes;
  }
  run_and_expect_files(setting(random), folder_);
}

TEST_P(QueuedCalls, MayReadAndWriteAtOnce) {
  IoRequest mixed = request();
  mixed.num_objects = 80;  // more than its memory holds
  mixed.object_size_bytes = 1 << 18;
  mixed.mix_read_share = 0.5;
  mixed.random_seed = 1;
  mixed.read_shift = ReadShift::ranks;
  mixed.read_shift_by = 1;
  const std::vector<MeasuredRank> ranks = measured(setting(mixed));
  expect_no_errors(ranks);
  expect_files(mixed, folder_, 0);
  const PhaseSummary& mix = ranks[0].measured.phases.at(1);
  ASSERT_TRUE(mix.reads && mix.writes);
  EXPECT_EQ(mix.reads->num_calls + mix.writes->num_calls, 80u * Documented::num_ranks);
  EXPECT_GT(mix.reads->num_calls, 0u);
  EXPECT_GT(mix.writes->num_calls, 0u);
  EXPECT_EQ(ranks[0].measured.verified_bytes, mix.reads->bytes + mix.bytes);
}

TEST_P(QueuedCalls, EndByTheClockBehindTheSameObject) {
  IoRequest endless = request();
  endless.object_size_bytes = 4096;
  endless.num_objects = 1 << 20;  // never done in time
  endless.time_limit_s = 0.02;
  const std::vector<MeasuredRank> ranks = measured(setting(endless));
  expect_no_errors(ranks);
  for (std::size_t phase = 0; phase < 2; ++phase) {
    const std::uint64_t num_objects = ranks[0].store.rows[phase].num_objects;
    EXPECT_GT(num_objects, 0u);
    EXPECT_LT(num_objects, endless.num_objects);
    for (const MeasuredRank& rank : ranks) EXPECT_EQ(rank.store.rows[phase].num_objects, num_objects);
  }
  EXPECT_TRUE(ranks[0].measured.phases[0].has_stop);
}

TEST_P(QueuedCalls, MayBeHeldBack) {
  IoRequest held = request();
  held.object_size_bytes = 4096;
  held.num_objects = 5;
  held.rate_limit_bytes = 4096 * 100;  // an object in 10 ms
  const std::vector<MeasuredRank> ranks = measured(setting(held));
  expect_no_errors(ranks);
  for (const RankPhase& row : ranks[2].store.rows) EXPECT_GE(row.end_ns, 4 * 10e6);
}

TEST_P(QueuedCalls, FindDamageOfAnObject) {
  Setting damaged = setting(request());
  damaged.request.check = memory::Check::all;
  damaged.behind_phase = [&](const PhasePosition& position) {
    if (position.operation != IoOperation::write) return;
    const Documented documented(damaged.request, folder_.path().string());
    const DocumentedObject location = documented.location(3, 11);
    std::fstream file(location.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(location.offset_bytes + 5000));
    file << "damage";
  };
  const std::vector<MeasuredRank> ranks = measured(damaged);
  EXPECT_THAT(error_of(ranks), AllOf(StartsWith("rank 3 on node0 read "), HasSubstr("object 11 of rank 3")));
  EXPECT_EQ(ranks[0].store.summaries.at(1).num_mismatches, 1u);
}

INSTANTIATE_TEST_SUITE_P(IoQueue, QueuedCalls,
                         ::testing::Combine(::testing::Values(By::io_uring, By::last_first),
                                            ::testing::Values(Movement::n_n, Movement::n_1, Movement::n_m)));

TEST(IoQueue, HasSoManyCallsUnderWay) {
  for (const int most : {2, 5}) {
    const test::Folder folder;
    Faults faults;
    IoRequest request = queued_request(folder, Movement::n_n);
    request.queue_depth = most;
    expect_no_errors(measured(setting_with(request, faults)));
    EXPECT_EQ(faults.most_started(), static_cast<std::size_t>(most));
  }
}

TEST(IoQueue, ShortCallsAreContinuedAndCounted) {
  const test::Folder folder;
  Faults faults;
  faults.of_transfer = [](const Transfer& transfer) {
    return transfer.size_bytes > 8000 && transfer.number % 2 == 0 ? Fault::half : Fault::none;
  };
  const IoRequest request = queued_request(folder, Movement::n_1);
  const std::vector<MeasuredRank> ranks = measured(setting_with(request, faults));
  expect_no_errors(ranks);
  expect_files(request, folder, 0);
  for (const PhaseSummary& phase : ranks[0].measured.phases) {
    EXPECT_GT(phase.num_continued, 0u);
    EXPECT_EQ(phase.num_calls, phase.num_continued + Documented::num_ranks * request.num_objects);
    EXPECT_EQ(phase.bytes, Documented::num_ranks * request.num_objects * request.object_size_bytes);
  }
}

TEST(IoQueue, AnErrorEndsThePhaseAndNamesItsRank) {
  for (const bool writes : {true, false}) {
    const test::Folder folder;
    Faults faults;
    faults.of_transfer = [writes](const Transfer& transfer) {
      return transfer.rank == 4 && transfer.writes == writes && transfer.number == 9 ? Fault::error : Fault::none;
    };
    const std::vector<MeasuredRank> ranks = measured(setting_with(queued_request(folder, Movement::n_n), faults));
    EXPECT_THAT(error_of(ranks), StartsWith(std::string("rank 4 on node1: ") + (writes ? "writing " : "reading ")));
    const PhaseSummary& failed = ranks[0].store.summaries.at(writes ? 0 : 1);
    EXPECT_FALSE(failed.is_complete);
    EXPECT_EQ(failed.num_mismatches, 0u);
  }
}

TEST(IoQueue, ACallThatWritesNothingIsAnError) {
  const test::Folder folder;
  Faults faults;
  faults.of_transfer = [](const Transfer& transfer) {
    return transfer.rank == 0 && transfer.writes && transfer.number == 1 ? Fault::nothing : Fault::none;
  };
  const std::vector<MeasuredRank> ranks = measured(setting_with(queued_request(folder, Movement::n_n), faults));
  EXPECT_THAT(error_of(ranks), AllOf(StartsWith("rank 0 on node0: writing "), HasSubstr("file.0")));
  EXPECT_THAT(ranks[0].store.summaries.at(0).error, HasSubstr("no byte was written"));
}

TEST(IoQueue, AFileThatEndsEarlyIsTruncated) {
  const test::Folder folder;
  Faults faults;
  Setting setting = setting_with(queued_request(folder, Movement::n_n), faults);
  setting.behind_phase = [&](const PhasePosition& position) {
    if (position.operation != IoOperation::write) return;
    std::filesystem::resize_file(folder / "file.2", 21 * setting.request.object_size_bytes - 100);
  };
  const std::vector<MeasuredRank> ranks = measured(setting);
  EXPECT_THAT(error_of(ranks), AllOf(StartsWith("rank 2 on node0 read "), HasSubstr("truncated")));
  EXPECT_EQ(ranks[0].store.summaries.at(1).num_mismatches, 3u);
}

}  // namespace
}  // namespace leadline::bench::io
