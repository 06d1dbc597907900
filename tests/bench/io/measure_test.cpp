// SPDX-License-Identifier: Apache-2.0
// The parallel file test's measuring stage: buffers, caches, sync, names, and what it says of itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "bench/io/documented_files.hpp"
#include "core/descriptor.hpp"

namespace leadline::bench::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(IoMeasure, ABufferOfOneObjectIsEnough) {
  for (const int num_ahead : {0, 3}) {
    for (const Movement movement : {Movement::n_m_m, Movement::n_m_1}) {
      const test::Folder folder;
      IoRequest request = request_in(folder, movement);
      request.buffer_size_bytes = request.object_size_bytes;
      request.num_ahead = num_ahead;
      run_and_expect_files(setting_for(request), folder);
    }
  }
}

TEST(IoMeasure, ABufferMayHoldMoreThanThereIs) {
  const test::Folder folder;
  IoRequest request = request_in(folder, Movement::n_m_1);
  request.buffer_size_bytes = 0;  // as many as fit into 64 MiB
  run_and_expect_files(setting_for(request), folder);
}

TEST(IoMeasure, RanksThatDoIoMayBringNothing) {
  for (const Movement movement : {Movement::n_m_m, Movement::n_m_1}) {
    for (const Order order : {Order::segmented, Order::strided}) {
      const test::Folder folder;
      IoRequest request = request_in(folder, movement);
      request.order = order;
      request.self_send = schedule::SelfSend::no;
      run_and_expect_files(setting_for(request), folder);
    }
  }
}

TEST(IoMeasure, EveryRankMayDoItsOwnIoInAFunnel) {
  const test::Folder folder;
  Setting setting = setting_for(request_in(folder, Movement::n_m_m));
  setting.request.io_ranks = {7};
  setting.request.barrier = true;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  EXPECT_EQ(std::filesystem::file_size(folder / "file.6"), 5 * setting.request.object_size_bytes);
}

TEST(IoMeasure, AnIoRankMayHaveNobodyToServe) {
  for (const Movement movement : {Movement::n_m_m, Movement::n_m_1}) {
    for (const bool in_step : {false, true}) {
      const test::Folder folder;
      Setting setting = setting_for(request_in(folder, movement));
      setting.num_ranks = 3;  // 0 serves 1, 2 serves none
      setting.request.self_send = schedule::SelfSend::no;
      setting.request.barrier = in_step;
      const std::vector<MeasuredRank> ranks = measured(setting);
      expect_no_errors(ranks);
      EXPECT_EQ(ranks[0].measured.phases[1].num_objects, 5u);
      EXPECT_EQ(ranks[2].store.rows[0].num_objects, 0u);
    }
  }
}

TEST(IoMeasure, AFunnelWithoutFilesMovesMessagesAlone) {
  const test::Folder folder;
  for (const bool collective : {false, true}) {
    Setting setting = setting_for(request_in(folder, Movement::n_m_1));
    setting.request.no_file = true;
    setting.request.collective = collective;
    setting.request.barrier = true;
    setting.request.buffer_size_bytes = 2 * setting.request.object_size_bytes;
    const std::vector<MeasuredRank> ranks = measured(setting);
    expect_no_errors(ranks);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    const std::uint64_t of_a_rank = 5 * setting.request.object_size_bytes;
    for (const MeasuredRank& rank : ranks) {
      for (const RankPhase& row : rank.store.rows) {
        EXPECT_EQ(row.num_calls, 0u);
        EXPECT_EQ(row.file, -1);
        EXPECT_EQ(row.num_objects, 5u);
      }
    }
    for (std::size_t phase = 0; phase < 2; ++phase) {
      EXPECT_EQ(ranks[0].store.rows[phase].bytes, 3 * of_a_rank);
      EXPECT_EQ(ranks[4].store.rows[phase].bytes, 2 * of_a_rank);
      EXPECT_EQ(ranks[1].store.rows[phase].bytes, 0u);
      EXPECT_EQ(ranks[1].store.rows[phase].message_bytes, of_a_rank);
    }
    EXPECT_EQ(ranks[0].measured.verified_bytes, 0u);
  }
}

TEST(IoMeasure, TouchedObjectsAreWhatTheFileHolds) {
  for (const memory::Touch touch : {memory::Touch::never, memory::Touch::object, memory::Touch::page}) {
    for (const Movement movement : {Movement::n_1, Movement::n_m_1}) {
      const test::Folder folder;
      IoRequest request = request_in(folder, movement);
      request.touch = touch;
      request.buffer_size_bytes = schedule::is_funnel(movement) ? 2 * request.object_size_bytes : 0;
      run_and_expect_files(setting_for(request), folder);
      request.file_fill = memory::BlockKind::doubles;
      run_and_expect_files(setting_for(request), folder);
    }
  }
}

TEST(IoMeasure, EveryRepetitionWritesAnew) {
  const test::Folder folder;
  Setting setting = setting_for(request_in(folder, Movement::n_1));
  setting.request.repeat = 3;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  ASSERT_THAT(ranks[0].measured.phases, SizeIs(6));
  expect_files(setting.request, folder, 2);
  ASSERT_THAT(ranks[0].measured.operations, SizeIs(2));
  EXPECT_EQ(ranks[0].measured.operations[0].num, 3u);
  EXPECT_THAT(ranks[1].measured.phases, SizeIs(6));
}

TEST(IoMeasure, EveryRepetitionCreatesItsFilesUnlessTheyWereThereBefore) {
  for (const bool was_there : {false, true}) {
    const test::Folder folder;
    Setting setting = setting_for(request_in(folder, Movement::n_1));
    setting.request.repeat = 2;
    if (was_there) std::ofstream(folder / "file") << "x";
    std::optional<Descriptor> of_first_write;
    setting.behind_phase = [&](const PhasePosition& position) {
      if (position.index == 0) of_first_write.emplace(::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC));
    };
    expect_no_errors(measured(setting));
    struct stat state {};
    ASSERT_EQ(::fstat(of_first_write->fd(), &state), 0);
    EXPECT_EQ(state.st_nlink, was_there ? 1u : 0u);
    expect_files(setting.request, folder, 1);
  }
}

TEST(IoMeasure, RanksBeginTogetherAndEndWithinTheTimeOfAll) {
  const test::Folder folder;
  const std::vector<MeasuredRank> ranks = measured(setting_for(request_in(folder, Movement::n_1)));
  expect_no_errors(ranks);
  for (const PhaseSummary& phase : ranks[0].measured.phases) {
    const auto index = static_cast<std::size_t>(phase.position.index);
    for (const MeasuredRank& rank : ranks) {
      const RankPhase& row = rank.store.rows[index];
      EXPECT_LE(row.begin_ns, row.done_ns);
      EXPECT_LE(row.done_ns, row.end_ns);
      EXPECT_LE(row.end_ns - row.begin_ns, phase.wall_ns);
    }
    EXPECT_LE(phase.first_done_ns, phase.wall_ns);
    EXPECT_DOUBLE_EQ(phase.bytes_per_s, 1e9 * static_cast<double>(phase.bytes) / phase.wall_ns);
  }
}

TEST(IoMeasure, AnOlderLongerFileIsEmptiedFirst) {
  const test::Folder folder;
  std::ofstream(folder / "file") << std::string(1 << 20, 'x');
  run_and_expect_files(setting_for(request_in(folder, Movement::n_1)), folder);
}

TEST(IoMeasure, FilesOfAnEarlierRunAreReadAsTheirs) {
  const test::Folder folder;
  Setting setting = setting_for(request_in(folder, Movement::n_m));
  setting.request.operations = IoOperations::write;
  setting.request.repeat = 2;
  expect_no_errors(measured(setting));
  setting.request.operations = IoOperations::read;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  EXPECT_EQ(ranks[0].measured.run, test_run);
  EXPECT_EQ(ranks[0].measured.verified_bytes, 2u * 7 * 5 * setting.request.object_size_bytes);
}

TEST(IoMeasure, RanksReadWhatOthersWrote) {
  for (const Movement movement : {Movement::n_n, Movement::n_1, Movement::n_m}) {
    for (const ReadShift shift : {ReadShift::ranks, ReadShift::hosts}) {
      const test::Folder folder;
      IoRequest request = request_in(folder, movement);
      request.collective = true;
      request.read_shift = shift;
      request.read_shift_by = 1;
      Setting setting = setting_for(request);
      setting.ranks_per_host = 2;
      run_and_expect_files(setting, folder);
    }
  }
}

TEST(IoMeasure, DroppingCachesIsTold) {
  const test::Folder folder;
  Setting setting = setting_for(request_in(folder, Movement::n_n));
  setting.request.between = BetweenPhases::drop;
  setting.request.sleep_s = 0.01;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  const std::string total = std::to_string(7 * 5 * setting.request.object_size_bytes);
  EXPECT_THAT(ranks[0].progress.events, ElementsAre("write " + total, "ends", "sleeping 0.01 s before reading",
                                                    "dropping caches", "read " + total, "ends"));
}

TEST(IoMeasure, SyncIsPartOfTheTimeOrNot) {
  for (const SyncTiming sync : {SyncTiming::inside, SyncTiming::outside, SyncTiming::none}) {
    const test::Folder folder;
    Setting setting = setting_for(request_in(folder, Movement::n_m_m));
    setting.request.sync = sync;
    const std::vector<MeasuredRank> ranks = measured(setting);
    expect_no_errors(ranks);
    const RankPhase& row = ranks[0].store.rows[0];
    const auto time_of = [&](IoTime state) { return row.times_ns[static_cast<std::size_t>(state)]; };
    EXPECT_EQ(time_of(IoTime::sync) > 0, sync != SyncTiming::none);
    const double in_all = row.end_ns - row.begin_ns;
    const double left = in_all - time_of(IoTime::fill) - (sync == SyncTiming::outside ? time_of(IoTime::sync) : 0);
    EXPECT_LE(row.io_ns, left);  // less what ranks agreed on meanwhile
    EXPECT_GE(row.io_ns, time_of(IoTime::call) + time_of(IoTime::open) + time_of(IoTime::close));
    EXPECT_EQ(ranks[1].store.rows[0].times_ns[static_cast<std::size_t>(IoTime::sync)], 0);  // it opens nothing
  }
}

TEST(IoMeasure, FilesAreDeletedAtTheEndIfAskedFor) {
  for (const Movement movement : {Movement::n_n, Movement::n_1, Movement::n_m_m, Movement::n_m}) {
    const test::Folder folder;
    Setting setting = setting_for(request_in(folder, movement));
    setting.request.delete_files = true;
    expect_no_errors(measured(setting));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(IoMeasure, PreallocationMakesFilesThatLong) {
  const test::Folder folder;
  Setting setting = setting_for(request_in(folder, Movement::n_1));
  setting.request.preallocate_bytes = 1 << 20;
  expect_no_errors(measured(setting));
  EXPECT_EQ(std::filesystem::file_size(folder / "file"), std::uint64_t{1} << 20);
}

TEST(IoMeasure, SlowCallsTellTheirPlace) {
  const test::Folder folder;
  Setting setting = setting_for(request_in(folder, Movement::n_1));
  setting.request.num_slow_calls = 3;
  const std::vector<MeasuredRank> ranks = measured(setting);
  const std::vector<SlowCall>& slow = ranks[0].measured.phases[0].slow_calls;
  ASSERT_THAT(slow, SizeIs(3));
  for (const SlowCall& call : slow) {
    EXPECT_EQ(call.size_bytes, setting.request.object_size_bytes);
    EXPECT_EQ(call.offset_bytes / (5 * setting.request.object_size_bytes), static_cast<std::uint64_t>(call.rank));
    EXPECT_EQ(call.file, folder / "file");
    EXPECT_THAT(call.host, HasSubstr("node"));
  }
  EXPECT_GE(slow[0].time_ns, slow[1].time_ns);
}

TEST(IoMeasure, TheWatchLearnsWhereARankIs) {
  const test::Folder folder;
  const std::vector<MeasuredRank> ranks = measured(setting_for(request_in(folder, Movement::n_m_m)));
  EXPECT_EQ(ranks[0].current_step, "read phase 2 of 2, behind its last object, " + folder / "file.0");
  EXPECT_EQ(ranks[1].current_step, "read phase 2 of 2, behind its last object");
}

TEST(IoMeasure, ResultsThatCannotBeKeptEndTheRunOnAllRanks) {
  const test::Folder folder;
  Setting setting = setting_for(request_in(folder, Movement::n_1));
  setting.store_fails_on = 3;
  EXPECT_EQ(error_of(measured(setting)), "the disk of the results is full");
}

}  // namespace
}  // namespace leadline::bench::io
