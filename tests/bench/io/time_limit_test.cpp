// SPDX-License-Identifier: Apache-2.0
// Phases of the parallel file test that end by the clock.
#include <gmock/gmock.h>

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
