// SPDX-License-Identifier: Apache-2.0
// The parts that the parallel file test's measuring stage is made of, each alone.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <set>

#include "bench/io/buffers.hpp"
#include "bench/io/funnel_io_rank.hpp"
#include "bench/io/measure.hpp"
#include "bench/io/object_loop.hpp"
#include "bench/io/pace.hpp"
#include "bench/io/phase.hpp"
#include "bench/io/ranks.hpp"
#include "bench/io/recorder.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::io {
namespace {

using schedule::Movement;
using schedule::Order;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(IoRecorder, BucketsAreFourAnOctaveFromAMicrosecondOn) {
  EXPECT_EQ(latency_bucket(0), 0u);
  EXPECT_EQ(latency_bucket(1023), 0u);
  EXPECT_EQ(latency_bucket(1024), 0u);
  EXPECT_EQ(latency_bucket(1217), 0u);  // 2^10.25 = 1217.7
  EXPECT_EQ(latency_bucket(1218), 1u);
  EXPECT_EQ(latency_bucket(2047), 3u);
  EXPECT_EQ(latency_bucket(2048), 4u);
  EXPECT_EQ(latency_bucket(std::uint64_t{1} << 20), 40u);
  EXPECT_EQ(latency_bucket(~std::uint64_t{0}), num_latency_buckets - 1);
}

std::uint64_t sum_of(const ByteSeries& series) {
  return std::accumulate(series.bytes.begin(), series.bytes.end(), std::uint64_t{0});
}

TEST(IoRecorder, BytesAreSpreadOverTheirTime) {
  ByteSeries series;
  const std::uint64_t bin = series.bin_ns;
  spread_bytes(series, bin / 2, 2 * bin + bin / 2, 1000);
  EXPECT_EQ(series.bytes[0], 250u);
  EXPECT_EQ(series.bytes[1], 500u);
  EXPECT_EQ(series.bytes[2], 250u);
  spread_bytes(series, 3 * bin, 4 * bin, 7);  // to the end of a bin, not into the next
  EXPECT_EQ(series.bytes[3], 7u);
  EXPECT_EQ(series.bytes[4], 0u);
  spread_bytes(series, 5 * bin, 5 * bin, 9);  // in no time at all
  EXPECT_EQ(series.bytes[5], 9u);
}

TEST(IoRecorder, BinsGrowAndLoseNothing) {
  ByteSeries series;
  const std::uint64_t bin = series.bin_ns;
  spread_bytes(series, 0, bin, 100);
  spread_bytes(series, bin, 2 * bin, 11);
  spread_bytes(series, num_series_bins * bin, num_series_bins * bin + 10, 1);
  EXPECT_EQ(series.bin_ns, 2 * bin);
  EXPECT_EQ(series.bytes[0], 111u);
  EXPECT_EQ(series.bytes[num_series_bins / 2], 1u);
  spread_bytes(series, 3 * bin, 1000 * num_series_bins * bin, 12345);
  EXPECT_EQ(series.bin_ns, 1024 * bin);
  EXPECT_EQ(sum_of(series), 100u + 11 + 1 + 12345);
}

TEST(IoRecorder, KeepsExtremesAndTheSlowestCalls) {
  Recorder recorder(2);
  for (const std::uint64_t time_ns : {5000u, 9000u, 2000u, 7000u}) {
    recorder.add_call({time_ns * 10, 100, 90, 1000, 1000 + time_ns});
  }
  const RankPhase& row = recorder.row();
  EXPECT_EQ(row.call_ns_min, 2000);
  EXPECT_EQ(row.call_ns_max, 9000);
  EXPECT_EQ(row.num_calls, 4u);
  EXPECT_EQ(row.bytes, 360u);
  EXPECT_EQ(sum_of(row.series), 360u);
  std::set<double> times;
  for (const SlowCall& slow : recorder.slow_calls()) {
    times.insert(slow.time_ns);
    EXPECT_EQ(slow.offset_bytes, static_cast<std::uint64_t>(slow.time_ns) * 10);
    EXPECT_EQ(slow.size_bytes, 100u);
  }
  EXPECT_THAT(times, ElementsAre(7000, 9000));
  Recorder none(0);
  none.add_call({0, 1, 1, 0, 10});
  EXPECT_THAT(none.slow_calls(), IsEmpty());
}

TEST(IoRecorder, TellsTheRampApart) {
  Recorder recorder(2), reads(2);
  recorder.begin(now_ns(), 1);
  reads.begin(now_ns(), 1);
  recorder.count_with(reads);
  recorder.add_call({0, 100, 100, 0, 5000});
  reads.add_call({0, 10, 10, 0, 6000});
  recorder.add_own_object();
  recorder.object_done();
  EXPECT_EQ(recorder.row().num_calls + reads.row().num_calls, 0u);
  EXPECT_EQ(recorder.row().bytes + reads.row().bytes, 0u);
  EXPECT_THAT(recorder.slow_calls(), IsEmpty());
  EXPECT_EQ(recorder.row().begin_ns, reads.row().begin_ns);

  const auto begin_ns = static_cast<std::uint64_t>(recorder.row().begin_ns);
  recorder.add_call({0, 7, 7, begin_ns - 1, begin_ns + 50});  // under way when the ramp ended
  recorder.add_call({0, 100, 100, begin_ns, begin_ns + 3000});
  recorder.add_own_object();
  recorder.object_done();
  const RankPhase& row = recorder.row();
  EXPECT_EQ(row.bytes, 100u);
  EXPECT_EQ(row.ramp_bytes, 107u);
  EXPECT_EQ(row.num_objects, 1u);
  EXPECT_EQ(row.ramp_objects, 1u);
  EXPECT_EQ(row.call_ns_max, 3000);
  EXPECT_EQ(sum_of(row.series), 207u);
  EXPECT_THAT(recorder.slow_calls(), SizeIs(1));
  recorder.add(reads);
  EXPECT_EQ(row.ramp_bytes, 117u);
}

TEST(IoRecorder, ARankInOneCallUntilTheEndCountsFromTheEndOfTheRamp) {
  Recorder recorder(2);
  recorder.begin(now_ns(), 1);
  recorder.add_call({0, 100, 100, 0, 5000});
  recorder.add_own_object();
  recorder.object_done();
  recorder.end(SyncTiming::inside);
  EXPECT_EQ(recorder.row().begin_ns, 1);
  EXPECT_EQ(recorder.row().io_ns, recorder.row().end_ns - 1);
}

TEST(IoRecorder, TheClockStandsStillAlikeOnAllRanks) {
  Recorder early(0), late(0);
  const std::uint64_t origin_ns = now_ns();
  early.begin(origin_ns);
  late.begin(origin_ns);
  const std::uint64_t again_ns = now_ns() + 5'000'000'000;
  early.go_on(again_ns, 100, 700);
  late.go_on(again_ns, 700, 700);
  EXPECT_EQ(early.elapsed_ns(again_ns), 700u);
  EXPECT_EQ(late.elapsed_ns(again_ns + 1), 701u);
}

TEST(IoRecorder, KeepsTheFirstCallsThatRanksMakeTogether) {
  Recorder recorder(0, 2), none(0);
  for (const double enter_ns : {1.0, 5.0, 9.0}) {
    recorder.add_joint_call({enter_ns, enter_ns + 2});
    none.add_joint_call({enter_ns, enter_ns + 2});
  }
  ASSERT_THAT(recorder.joint_calls(), SizeIs(2));
  EXPECT_EQ(recorder.joint_calls()[1].enter_ns, 5);
  EXPECT_EQ(recorder.joint_calls()[1].exit_ns, 7);
  EXPECT_THAT(none.joint_calls(), IsEmpty());
}

TEST(IoRecorder, WhatIsNoIoIsTakenOff) {
  for (const SyncTiming sync : {SyncTiming::inside, SyncTiming::outside}) {
    Recorder recorder(0);
    for (const IoTime state : {IoTime::fill, IoTime::verify, IoTime::sync, IoTime::call}) {
      const Recorder::StateTimer timer(recorder, state);
    }
    { const Recorder::AgreementTimer timer(recorder); }
    recorder.end(sync);
    const RankPhase& row = recorder.row();
    const auto time_of = [&](IoTime state) { return row.times_ns[static_cast<std::size_t>(state)]; };
    const double left = row.end_ns - row.begin_ns - time_of(IoTime::fill) - time_of(IoTime::verify) -
                        (sync == SyncTiming::outside ? time_of(IoTime::sync) : 0);
    EXPECT_LT(row.io_ns, left);  // the time aside
    EXPECT_GE(row.io_ns, time_of(IoTime::call));
  }
}

IoRequest funnel(Movement movement, Order order, std::int64_t num_io_ranks) {
  IoRequest request;
  request.movement = movement;
  request.order = order;
  request.num_objects = 4;
  request.object_size_bytes = 8;
  request.buffer_size_bytes = 6 * 8;
  request.io_ranks = {num_io_ranks};
  return request;
}

std::vector<std::uint64_t> lengths_of(const std::vector<FunnelRun>& runs) {
  std::vector<std::uint64_t> lengths;
  for (const FunnelRun& run : runs) lengths.push_back(run.num_slots);
  return lengths;
}

TEST(IoFunnelMap, NeighboursInTheFileAreOneRun) {
  const IoRequest request = funnel(Movement::n_m_m, Order::segmented, 2);
  const Plan plan = Ranks(5, 5).plan(request);
  // Ranks 0, 1, 2: 12 objects in fills of 6 slots, runs of 2 of each.
  const FunnelMap map(plan.layout, plan.layout.senders(0), 6, {0, 4});
  EXPECT_EQ(map.num_fills(), 2u);
  EXPECT_THAT(lengths_of(map.runs(0)), ElementsAre(2, 2, 2));
  EXPECT_EQ(map.runs(1)[1].offset_bytes, (4 + 2) * 8u);  // objects 2 and 3 of rank 1
  EXPECT_EQ(map.num_runs(), 6u);
  const FunnelObject last = map.object(1, 5);
  EXPECT_EQ(last.rank, 2);
  EXPECT_EQ(last.number, 3u);
}

TEST(IoFunnelMap, StridedObjectsOfAllSendersAreOneRun) {
  const Plan plan = Ranks(5, 5).plan(funnel(Movement::n_m_m, Order::strided, 2));
  const FunnelMap map(plan.layout, plan.layout.senders(0), 6, {0, 4});
  EXPECT_THAT(lengths_of(map.runs(0)), ElementsAre(6));
  EXPECT_EQ(map.num_runs(), 2u);
  const Plan shared = Ranks(5, 5).plan(funnel(Movement::n_m_1, Order::strided, 2));
  const FunnelMap part(shared.layout, shared.layout.senders(3), 6, {0, 4});
  EXPECT_THAT(lengths_of(part.runs(0)), ElementsAre(2, 2, 2));  // of ranks 3 and 4 between those of the others
  EXPECT_EQ(part.runs(0)[1].offset_bytes, (5 + 3) * 8u);
}

TEST(IoFunnelMap, EveryObjectOfARangeIsThereOnceAndInOrder) {
  for (const Movement movement : {Movement::n_m_m, Movement::n_m_1}) {
    for (const Order order : {Order::segmented, Order::strided}) {
      for (int num_ranks = 1; num_ranks <= 9; ++num_ranks) {
        for (std::uint64_t num_slots = 1; num_slots <= 7; ++num_slots) {
          const Plan plan = Ranks(num_ranks, num_ranks).plan(funnel(movement, order, 1));
          const FunnelMap map(plan.layout, plan.layout.senders(0), num_slots, {1, 4});
          std::vector<std::uint64_t> next(static_cast<std::size_t>(num_ranks), 1);
          for (std::uint64_t fill = 0; fill < map.num_fills(); ++fill) {
            std::uint64_t num_in_runs = 0;
            for (const FunnelRun& run : map.runs(fill)) {
              EXPECT_EQ(run.first_slot, num_in_runs);
              num_in_runs += run.num_slots;
            }
            EXPECT_EQ(num_in_runs, map.num_slots(fill));
            for (std::uint64_t slot = 0; slot < map.num_slots(fill); ++slot) {
              const FunnelObject object = map.object(fill, slot);
              EXPECT_EQ(object.number, next[static_cast<std::size_t>(object.rank)]++);
              EXPECT_EQ(map.senders()[object.sender], object.rank);
            }
          }
          for (const std::uint64_t number : next) EXPECT_EQ(number, 4u);
        }
      }
    }
  }
}

TEST(IoShare, WhoOpensWhatWithWhom) {
  IoRequest request;
  request.movement = Movement::n_m;
  request.num_files = 2;
  request.target = "file.%r";
  const Ranks five(5, 5);
  const Share share = share_of(request, five.plan(request), IoOperation::write, 3);
  EXPECT_EQ(share.file, 1);
  EXPECT_THAT(share.openers, ElementsAre(1, 3));
  EXPECT_THAT(share.owners, ElementsAre(3));
  EXPECT_FALSE(share.is_lowest_opener(3));
  request.read_shift = ReadShift::ranks;
  request.read_shift_by = 1;
  const Plan shifted = five.plan(request);
  const Share read = share_of(request, shifted, IoOperation::read, 3);  // reads for 4; as do 0 for 1, 4 for 0 ...
  EXPECT_EQ(read.file, 0);
  EXPECT_THAT(read.owners, ElementsAre(4));
  EXPECT_THAT(read.openers, ElementsAre(1, 3, 4));
}

TEST(IoShare, InAFunnelIoRanksOpenAndOthersDoNot) {
  IoRequest request = funnel(Movement::n_m_1, Order::segmented, 2);
  const Plan plan = Ranks(5, 5).plan(request);
  const Share io_rank = share_of(request, plan, IoOperation::read, 3);
  EXPECT_THAT(io_rank.openers, ElementsAre(0, 3));
  EXPECT_THAT(io_rank.owners, ElementsAre(3, 4));
  const Share sender = share_of(request, plan, IoOperation::read, 4);
  EXPECT_FALSE(sender.opens);
  EXPECT_EQ(sender.file, 0);
  EXPECT_THAT(sender.owners, IsEmpty());
  request.no_file = true;
  EXPECT_FALSE(share_of(request, plan, IoOperation::write, 3).opens);
  EXPECT_EQ(share_of(request, plan, IoOperation::write, 3).file, -1);
}

std::vector<std::uint64_t> flat(const std::vector<storage::ByteRange>& stretches) {
  std::vector<std::uint64_t> numbers;
  for (const storage::ByteRange& stretch : stretches) {
    numbers.push_back(stretch.offset_bytes / 8);
    numbers.push_back(stretch.size_bytes / 8);
  }
  return numbers;
}

TEST(IoShare, StretchesAreJoinedWhereTheyMeet) {
  const Plan segmented = Ranks(4, 4).plan(funnel(Movement::n_m_1, Order::segmented, 2));
  EXPECT_THAT(flat(stretches_of(segmented.layout, {2, 3}, 4)), ElementsAre(8, 8));
  EXPECT_THAT(flat(stretches_of(segmented.layout, {2, 3}, 3)), ElementsAre(8, 3, 12, 3));
  const Plan strided = Ranks(4, 4).plan(funnel(Movement::n_m_1, Order::strided, 2));
  EXPECT_THAT(flat(stretches_of(strided.layout, {2, 3}, 2)), ElementsAre(2, 2, 6, 2));
  EXPECT_THAT(flat(stretches_of(strided.layout, {0, 1, 2, 3}, 2)), ElementsAre(0, 8));
  EXPECT_THAT(stretches_of(strided.layout, {0}, 0), IsEmpty());
}

TEST(Stretches, OfVeryManyStridedObjectsAreSome) {
  IoRequest request;
  request.movement = Movement::n_1;
  request.order = Order::strided;
  request.object_size_bytes = 8;
  request.num_objects = 10'000'000;
  const Plan plan = Ranks(4, 4).plan(request);
  const std::vector<storage::ByteRange> stretches = stretches_of(plan.layout, {1}, request.num_objects);
  EXPECT_LE(stretches.size(), most_strided_stretches);
  EXPECT_GT(stretches.size(), most_strided_stretches / 2);
  EXPECT_EQ(stretches.front().offset_bytes, 8u);
  EXPECT_GT(stretches.back().offset_bytes, plan.layout.file_size_bytes(0) / 100 * 99);
}

TEST(IoShare, OneRankOfAHostSpeaksForIt) {
  const Hosts host_of{0, 0, 1, 1};
  EXPECT_TRUE(is_lowest_on_host({1, 2, 3}, 1, host_of));
  EXPECT_TRUE(is_lowest_on_host({1, 2, 3}, 2, host_of));
  EXPECT_FALSE(is_lowest_on_host({1, 2, 3}, 3, host_of));
}

TEST(IoBuffers, AreThereForWhoNeedsThemAndBeginAtPages) {
  IoRequest request = funnel(Movement::n_m_m, Order::segmented, 2);
  request.num_ahead = 3;
  const Plan plan = Ranks(5, 5).plan(request);
  const Buffers sender(request, plan, 1), io_rank(request, plan, 3);
  EXPECT_EQ(sender.num_objects(), 4u);
  EXPECT_EQ(sender.num_circular(), 0u);
  EXPECT_EQ(io_rank.num_objects(), 0u);
  EXPECT_EQ(io_rank.num_circular(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sender.object(i).data()) % 4096, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(io_rank.circular(i).data()) % 4096, 0u);
    EXPECT_EQ(sender.object(i).size(), 8u);
    EXPECT_EQ(io_rank.circular(i).size(), 48u);
  }
  IoRequest direct;
  direct.target = "file.%r";
  EXPECT_EQ(ring_depth(direct), 1u);
  direct.calls = storage::FileCalls::non_blocking;
  EXPECT_EQ(ring_depth(direct), 2u);
  direct.allocator = "cuda";
  EXPECT_EQ(test::refusal_of([&] { Buffers(direct, Ranks(1, 1).plan(direct), 0); }).substr(0, 28),
            "--allocator cannot be cuda (");
}

TEST(IoHints, AskedForAndGrantedStandSideBySide) {
  const auto hints = compare_hints({{"a", "1"}, {"b", "2"}}, {{"b", "3"}, {"c", "4"}}, true);
  ASSERT_THAT(hints, SizeIs(3));
  EXPECT_EQ(hints[0].granted, "");
  EXPECT_FALSE(hints[0].is_confirmed);
  EXPECT_EQ(hints[1].asked, "2");
  EXPECT_EQ(hints[1].granted, "3");
  EXPECT_TRUE(hints[1].is_confirmed);
  EXPECT_EQ(hints[2].asked, "");
  EXPECT_FALSE(compare_hints({{"b", "2"}}, {{"b", "2"}}, false)[0].is_confirmed);  // an echo
}

TEST(IoCurrentStep, NameThePhaseTheObjectAndTheFile) {
  CurrentFileCall file_call;
  CurrentStep current_step({{IoOperation::write, "/scratch/file"}, {IoOperation::read, ""}}, file_call);
  EXPECT_EQ(current_step.text(), "the opening of links");
  current_step.enter(CurrentStep::Between::checking_files);
  EXPECT_EQ(current_step.text(), "the check of the files");
  current_step.enter(0, 64);
  for (int i = 0; i < 17; ++i) current_step.object_done(RankPhase{});
  EXPECT_EQ(current_step.text(), "write phase 1 of 2, object 17 of 64, /scratch/file");
  current_step.enter(1, 1);
  EXPECT_EQ(current_step.text(), "read phase 2 of 2, object 0 of 1");
  current_step.object_done(RankPhase{});
  EXPECT_EQ(current_step.text(), "read phase 2 of 2, behind its last object");
  current_step.enter(CurrentStep::Between::deleting_files);
  EXPECT_EQ(current_step.text(), "the deletion of the files");
}

TEST(IoCurrentStep, NameThePass) {
  CurrentFileCall file_call;
  CurrentStep current_step({{IoOperation::write, "", true}}, file_call);
  current_step.enter(0, 4);
  for (int i = 0; i < 3; ++i) current_step.object_done(RankPhase{});
  EXPECT_EQ(current_step.text(), "write phase 1 of 1, object 3 of 4");
  for (int i = 0; i < 7; ++i) current_step.object_done(RankPhase{});
  EXPECT_EQ(current_step.text(), "write phase 1 of 1, object 2 of 4 in pass 3");
}

TEST(IoCurrentStep, LeavesTheFileToTheCallThatTheRankIsIn) {
  CurrentFileCall file_call;
  CurrentStep current_step({{IoOperation::write, "/scratch/file"}}, file_call);
  current_step.enter(0, 64);
  const InFileCall in_call(file_call, "syncing", "/scratch/file");
  EXPECT_EQ(current_step.text(), "write phase 1 of 1, object 0 of 64");
}

struct FourHosts {
  test::Board board{4};
  test::ThreadCluster rank_3{board, 3, {0, 1, 2, 3}};
};

TEST(IoFailure, TheFirstErrorIsKeptWithItsRank) {
  const FourHosts hosts;
  Failure failure(hosts.rank_3, "node3");
  EXPECT_TRUE(failure.guard([] {}));
  EXPECT_EQ(failure.error(), nullptr);
  EXPECT_FALSE(failure.guard([] { throw Error(ExitStatus::run_failed, "one", "why", "hint"); }));
  EXPECT_FALSE(failure.guard([] { throw Error(ExitStatus::run_failed, "two"); }));
  EXPECT_STREQ(failure.error()->what(), "rank 3 on node3: one (why). hint");
}

TEST(IoFailure, ABrokenLinkNamesBothHosts) {
  const FourHosts hosts;
  Failure failure(hosts.rank_3, "node3");
  EXPECT_FALSE(failure.guard([] { throw cluster::ConnectionLost(1, "lost the connection to rank 1", "timed out"); }));
  EXPECT_STREQ(failure.error()->what(),
               "rank 3 on node3: no link to rank 1 on node1 (lost the connection to rank 1: timed out)");
}

}  // namespace
}  // namespace leadline::bench::io
