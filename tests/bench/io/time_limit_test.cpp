// SPDX-License-Identifier: Apache-2.0
// Phases of the parallel file test that end by the clock.
#include <gmock/gmock.h>

#include <fstream>
#include <numeric>
#include <vector>

#include "bench/io/documented_files.hpp"

namespace leadline::bench::io {
namespace {

using testing::SizeIs;

class TimeLimit : public ::testing::TestWithParam<AccessMethod> {};

TEST_P(TimeLimit, StopsAllRanksAtTheSameObject) {
  const AccessMethod& way = GetParam();
  const test::Folder folder;
  IoRequest request = request_in(folder, way.movement);
  request.collective = way.collective;
  request.barrier = way.barrier;
  request.calls = way.calls;
  request.num_ahead = way.num_ahead;
  request.object_size_bytes = 4096;
  request.num_objects = 1 << 20;  // never done in time
  request.time_limit_s = 0.02;
  request.repeat = 2;
  if (schedule::is_funnel(way.movement)) request.buffer_size_bytes = 8 * request.object_size_bytes;
  const std::vector<MeasuredRank> ranks = measured(setting_for(request));
  expect_no_errors(ranks);
  ASSERT_THAT(ranks[0].store.rows, SizeIs(4));
  for (std::size_t phase = 0; phase < 4; ++phase) {
    const std::uint64_t num_objects = ranks[0].store.rows[phase].num_objects;
    EXPECT_GT(num_objects, 0u);
    EXPECT_LT(num_objects, request.num_objects);
    for (const MeasuredRank& rank : ranks) EXPECT_EQ(rank.store.rows[phase].num_objects, num_objects);
    if (phase % 2 == 1) {
      EXPECT_LE(num_objects, ranks[0].store.rows[phase - 1].num_objects);
    }
  }
  EXPECT_TRUE(ranks[0].measured.phases[0].has_stop);
  EXPECT_GT(ranks[0].measured.phases[0].bytes_at_stop, 0u);
  EXPECT_LE(ranks[0].measured.phases[0].bytes_at_stop, ranks[0].measured.phases[0].bytes);
  EXPECT_EQ(ranks[3].measured.num_objects, ranks[0].store.rows[2].num_objects);
}

TEST_P(TimeLimit, GoesThroughTheObjectsAgain) {
  const AccessMethod& way = GetParam();
  const test::Folder folder;
  IoRequest request = request_in(folder, way.movement);
  request.collective = way.collective;
  request.barrier = way.barrier;
  request.calls = way.calls;
  request.num_ahead = way.num_ahead;
  request.object_size_bytes = 4096;
  request.num_objects = 2;
  request.time_based = true;
  request.ramp_time_s = 0.1;
  request.time_limit_s = 0.2;
  request.repeat = 2;
  if (schedule::is_funnel(way.movement)) request.buffer_size_bytes = 3 * request.object_size_bytes;
  const std::vector<MeasuredRank> ranks = measured(setting_for(request));
  expect_no_errors(ranks);
  std::uint64_t num_read = 0;
  for (const MeasuredRank& rank : ranks) {
    ASSERT_THAT(rank.store.rows, SizeIs(4));
    for (std::size_t phase = 0; phase < 4; ++phase) {
      const RankPhase& row = rank.store.rows[phase];
      EXPECT_GT(row.num_objects + row.ramp_objects, request.num_objects);
      EXPECT_EQ(std::accumulate(row.series.bytes.begin(), row.series.bytes.end(), std::uint64_t{0}),
                row.bytes + row.ramp_bytes);
      EXPECT_GE(row.begin_ns, 1e8);
      if (phase % 2 == 1) num_read += row.num_objects + row.ramp_objects;
    }
  }
  EXPECT_EQ(ranks[0].measured.verified_bytes, num_read * request.object_size_bytes);
  EXPECT_EQ(ranks[0].measured.num_objects, request.num_objects);
  for (const PhaseSummary& phase : ranks[0].measured.phases) {
    EXPECT_TRUE(phase.has_stop);
    EXPECT_GE(phase.ramp_ns, 1e8);
    EXPECT_GT(phase.ramp_bytes, 0u);
  }
}

TEST(IoTimeBased, FindsWhatAnEarlierPassHasWritten) {
  const test::Folder folder;
  Setting setting;
  setting.num_ranks = 1;
  setting.request = request_in(folder, Movement::n_n);
  setting.request.num_objects = 2;
  setting.request.time_based = true;
  setting.request.time_limit_s = 0.2;
  setting.behind_phase = [&](const PhasePosition& position) {
    if (position.operation != IoOperation::write) return;
    std::vector<std::byte> object(setting.request.object_size_bytes);
    memory::fill_object(object, {}, {test_run, 0, 0, 0, 0, memory::pass_bit});
    std::fstream file(folder.path() / "file.0", std::ios::binary | std::ios::in | std::ios::out);
    file.write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
  };
  const std::vector<MeasuredRank> ranks = measured(setting);
  EXPECT_THAT(ranks[0].error, testing::HasSubstr("another pass's: holds object 0 of rank 0 (offset 0 B) of pass 0"));
}

INSTANTIATE_TEST_SUITE_P(
    IoTimeLimit, TimeLimit,
    ::testing::Values(AccessMethod{Movement::n_n, Order::segmented, storage::FileCalls::blocking, false, false, 0},
                      AccessMethod{Movement::n_1, Order::segmented, storage::FileCalls::non_blocking, false, false, 2},
                      AccessMethod{Movement::n_1, Order::segmented, storage::FileCalls::blocking, false, true, 0},
                      AccessMethod{Movement::n_m, Order::segmented, storage::FileCalls::blocking, true, false, 0},
                      AccessMethod{Movement::n_m_m, Order::segmented, storage::FileCalls::blocking, false, false, 1},
                      AccessMethod{Movement::n_m_1, Order::segmented, storage::FileCalls::blocking, true, true, 1}),
    name_of_way);

TEST(IoTimeLimit, ThatDoesNotPassChangesNothing) {
  for (const Movement movement : {Movement::n_n, Movement::n_m_1}) {
    const test::Folder folder;
    IoRequest request = request_in(folder, movement);
    request.time_limit_s = 1000;
    const Setting setting = setting_for(request);
    const std::vector<MeasuredRank> ranks = measured(setting);
    expect_no_errors(ranks);
    expect_sound_numbers(setting, ranks);
    for (const PhaseSummary& phase : ranks[0].measured.phases) {
      EXPECT_FALSE(phase.has_stop);
      EXPECT_EQ(phase.bytes_at_stop, 0u);
    }
  }
}

}  // namespace
}  // namespace leadline::bench::io
