// SPDX-License-Identifier: Apache-2.0
// The parallel file test's measuring stage: buffers, caches, sync, names, and what it says of itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

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

TEST(IoMeasure, BlocksOfRanksMayTakeTurns) {
  for (const Movement movement : {Movement::n_1, Movement::n_m, Movement::n_m_1}) {
    const test::Folder folder;
    IoRequest request = request_in(folder, movement);
    request.order = Order::strided;
    request.num_objects = 6;
    request.block_size_bytes = 3 * request.object_size_bytes;
    run_and_expect_files(setting_for(request), folder);
  }
}

TEST(IoMeasure, ARandomOrderGivesTheSameFiles) {
  for (const Movement movement : {Movement::n_n, Movement::n_1, Movement::n_m}) {
    for (const storage::FileCalls calls : {storage::FileCalls::blocking, storage::FileCalls::non_blocking}) {
      const test::Folder folder;
      IoRequest request = request_in(folder, movement);
      request.calls = calls;
      request.num_objects = 17;
      request.random_seed = 3;
      run_and_expect_files(setting_for(request), folder);
    }
  }
}

TEST(IoMeasure, ARandomOrderIsNotThatOfTheFile) {
  const test::Folder folder;
  IoRequest request = request_in(folder, Movement::n_n);
  request.num_objects = 40;
  request.random_seed = 1;
  request.num_slow_calls = 40;
  Setting setting = setting_for(request);
  setting.num_ranks = 1;
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  for (const PhaseSummary& phase : ranks[0].measured.phases) {
    std::vector<SlowCall> calls = phase.slow_calls;
    ASSERT_THAT(calls, SizeIs(40));
    std::ranges::sort(calls, {}, &SlowCall::begin_ns);
    EXPECT_FALSE(std::ranges::is_sorted(calls, {}, &SlowCall::offset_bytes));
  }
}

TEST(IoMeasure, ARandomOrderMayEndByTheClock) {
  const test::Folder folder;
  IoRequest request = request_in(folder, Movement::n_1);
  request.object_size_bytes = 4096;
  request.num_objects = 1 << 20;  // never done in time
  request.random_seed = 1;
  request.time_limit_s = 0.02;
  const std::vector<MeasuredRank> ranks = measured(setting_for(request));
  expect_no_errors(ranks);
  EXPECT_GT(ranks[0].measured.verified_bytes, 0u);
  EXPECT_FALSE(ranks[0].measured.phases[1].cache_before.is_known);
}

TEST(IoMeasure, EachWriteMayBeSynced) {
  for (const Movement movement : {Movement::n_n, Movement::n_1, Movement::n_m_1}) {
    const test::Folder folder;
    IoRequest request = request_in(folder, movement);
    request.sync = SyncTiming::each;
    Setting setting = setting_for(request);
    Faults faults;
    std::atomic<std::uint64_t> num_syncs{0};
    faults.of_call = [&](int /*rank*/, const char* call) {
      if (std::string_view(call) == "sync") ++num_syncs;
      return false;
    };
    setting.backend = [&faults](int rank) {
      return std::make_unique<FaultyBackend>(posix_backend(rank, Documented::num_ranks), rank, faults);
    };
    const std::vector<MeasuredRank> ranks = measured(setting);
    expect_no_errors(ranks);
    expect_files(request, folder, 0);
    const PhaseSummary& write = ranks[0].measured.phases[0];
    EXPECT_EQ(num_syncs.load(), write.num_calls);
    EXPECT_TRUE(write.is_durable);
    EXPECT_GT(write.times[static_cast<std::size_t>(IoTime::sync)].max, 0);
  }
}

TEST(IoMeasure, APhaseMayReadAndWrite) {
  for (const Movement movement : {Movement::n_n, Movement::n_1, Movement::n_m}) {
    const test::Folder folder;
    IoRequest request = request_in(folder, movement);
    request.num_objects = 40;
    request.mix_read_share = 0.7;
    request.random_seed = 1;
    request.read_shift = ReadShift::ranks;
    request.read_shift_by = 1;
    const std::vector<MeasuredRank> ranks = measured(setting_for(request));
    expect_no_errors(ranks);
    expect_files(request, folder, 0);
    ASSERT_THAT(ranks[0].measured.phases, SizeIs(3));
    const PhaseSummary& mix = ranks[0].measured.phases[1];
    EXPECT_EQ(mix.position.operation, IoOperation::mix);
    ASSERT_TRUE(mix.reads && mix.writes);
    const std::uint64_t num_all = 40 * Documented::num_ranks, size = request.object_size_bytes;
    EXPECT_EQ(mix.num_objects, num_all);
    EXPECT_EQ(mix.reads->num_calls + mix.writes->num_calls, num_all);
    EXPECT_EQ(mix.bytes, num_all * size);
    EXPECT_EQ(mix.reads->bytes, mix.reads->num_calls * size);
    EXPECT_NEAR(static_cast<double>(mix.reads->num_calls) / static_cast<double>(num_all), 0.7, 0.12);
    EXPECT_NEAR(mix.reads->bytes_per_s + mix.writes->bytes_per_s, mix.bytes_per_s, 1e-6 * mix.bytes_per_s);
    EXPECT_LE(mix.reads->call_ns_max, mix.call_ns_max);
    EXPECT_LE(mix.writes->call_ns_max, mix.call_ns_max);
    // What was read in it, and what was read behind it.
    EXPECT_EQ(ranks[0].measured.verified_bytes, mix.reads->bytes + num_all * size);
    for (const MeasuredRank& rank : ranks) {
      const RankPhase& row = rank.store.rows[1];
      EXPECT_EQ(row.num_calls, 40u);
      EXPECT_EQ(std::accumulate(row.latencies.begin(), row.latencies.end(), std::uint64_t{0}), 40u);
      EXPECT_EQ(std::accumulate(row.series.bytes.begin(), row.series.bytes.end(), std::uint64_t{0}), row.bytes);
    }
  }
}

TEST(IoMeasure, RanksMayBeHeldBack) {
  const test::Folder folder;
  IoRequest request = request_in(folder, Movement::n_n);
  request.object_size_bytes = 4096;
  request.num_objects = 5;
  request.rate_limit_bytes = 4096 * 100;  // an object in 10 ms
  const std::vector<MeasuredRank> ranks = measured(setting_for(request));
  expect_no_errors(ranks);
  for (const RankPhase& row : ranks[2].store.rows) {
    EXPECT_GE(row.end_ns, 4 * 10e6);
  }
}

TEST(IoMeasure, FilesMayBeMadeAnew) {
  for (const bool new_files : {false, true}) {
    const test::Folder folder;
    IoRequest request = request_in(folder, Movement::n_1);
    request.new_files = new_files;
    // A second name keeps what was there before, where the file itself is made anew.
    std::ofstream(folder / "file") << "before";
    std::filesystem::create_hard_link(folder / "file", folder / "first");
    expect_no_errors(measured(setting_for(request)));
    EXPECT_EQ(std::filesystem::hard_link_count(folder / "file"), new_files ? 1u : 2u);
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
