// SPDX-License-Identifier: Apache-2.0
// What all ranks together did in a phase: sums, rates, latencies, and where the bytes came from.
#include "bench/io/summary.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/io/pace.hpp"
#include "bench/io/phase_sums.hpp"
#include "bench/io/phases.hpp"

namespace leadline::bench::io {
namespace {

using testing::IsEmpty;

TEST(PhaseSummary, AddsUpWhatRanksDid) {
  const PhaseSummary summary = summary_of(3, [](int rank, Part& part) {
    const auto n = static_cast<std::uint64_t>(rank) + 1;
    part.row = row_of(n * 1000, 10);
    part.row.message_bytes = n * 10;
    part.row.num_objects = n;
    part.row.num_calls = n * 2;
    part.row.num_continued = n * 3;
  });
  EXPECT_EQ(summary.position.index, 3);
  EXPECT_EQ(summary.position.repeat, 1);
  EXPECT_EQ(summary.bytes, 6000u);
  EXPECT_EQ(summary.message_bytes, 30u);
  EXPECT_EQ(summary.num_objects, 6u);
  EXPECT_EQ(summary.num_calls, 12u);
  EXPECT_EQ(summary.num_continued, 18u);
  EXPECT_TRUE(summary.is_complete);
  EXPECT_FALSE(summary.has_stop);
}

TEST(PhaseSummary, GivesNoRateOfWrongData) {
  const PhaseSummary summary = summary_of(3, [](int rank, Part& part) {
    part.row = row_of(1000, 10);
    part.row.num_mismatches = rank == 1 ? 4 : 0;
  });
  EXPECT_EQ(summary.num_mismatches, 4u);
  EXPECT_FALSE(summary.is_complete);
  EXPECT_FALSE(summary.error.empty());
  EXPECT_TRUE(std::isnan(summary.bytes_per_s));
}

TEST(PhaseSummary, TheHeadlineIsOverTheTimeOfAllAndOthersOverTimesOfRanks) {
  IoRequest request;
  request.object_size_bytes = 500;
  const PhaseSummary summary = summary_of(2, request, IoOperation::write, [](int rank, Part& part) {
    part.row = row_of(1000, rank == 0 ? 1000 : 3000);
    part.row.begin_ns = 100 + rank;
    part.row.end_ns = 4100;
    time_in(part.row, IoTime::open) = 100;
    time_in(part.row, IoTime::preallocate) = 200;
    time_in(part.row, IoTime::sync) = 300;
    time_in(part.row, IoTime::close) = rank == 0 ? 0 : 400;
    time_in(part.row, IoTime::fill) = 50;
    part.row.making_ns = 250;
    part.row.num_objects = 2;
  });
  EXPECT_DOUBLE_EQ(summary.bytes_per_s, 2000 / 4e-6);
  EXPECT_DOUBLE_EQ(summary.bytes_per_s_io, 2000 / 3e-6);
  EXPECT_DOUBLE_EQ(summary.bytes_per_s_mean, 2000 / 2e-6);
  EXPECT_DOUBLE_EQ(summary.bytes_per_s_transfer, 2000 / 2e-6);
  EXPECT_DOUBLE_EQ(summary.operations_per_s, 2 / 4e-6);  // two calls
  EXPECT_DOUBLE_EQ(summary.fill_bytes_per_s, 2000 / 500e-9);
  EXPECT_TRUE(std::isnan(summary.verify_bytes_per_s));
}

TEST(PhaseSummary, OfMetadataHasARateOfOperationsAlone) {
  const PhaseSummary summary = summary_of(2, {}, IoOperation::create, [](int rank, Part& part) {
    part.row = row_of(1000, rank == 0 ? 1000 : 3000);
    part.row.num_objects = part.row.num_calls = 30;
  });
  EXPECT_DOUBLE_EQ(summary.operations_per_s, 60 / 3e-6);
  EXPECT_EQ(summary.bytes, 2000u);
  EXPECT_TRUE(std::isnan(summary.bytes_per_s));
  const PhaseSummary failed = summary_of(2, {}, IoOperation::create, [](int, Part& part) {
    part.row = row_of(0, 1000);
    part.error = "quota";
  });
  EXPECT_TRUE(std::isnan(failed.operations_per_s));
}

TEST(PhaseSummary, ASyncOutsideIsNoPartOfTheTime) {
  IoRequest request;
  request.sync = SyncTiming::outside;
  const PhaseSummary summary = summary_of(2, request, IoOperation::write, [](int rank, Part& part) {
    part.row = row_of(1000, 400);
    part.row.begin_ns = 100;
    part.row.done_ns = rank == 0 ? 500 : 600;
    part.row.end_ns = 5000;
    time_in(part.row, IoTime::close) = 10;
  });
  EXPECT_DOUBLE_EQ(summary.wall_ns, 510);
  EXPECT_DOUBLE_EQ(summary.bytes_per_s, 2000 / 510e-9);
  const PhaseSummary held_up = summary_of(1, request, IoOperation::write, [](int, Part& part) {
    part.row = row_of(1000, 700);
    part.row.begin_ns = 100;
    part.row.done_ns = 500;
    part.row.end_ns = 5000;
  });
  EXPECT_DOUBLE_EQ(held_up.wall_ns, 700) << "no less than the I/O time of a rank";
}

/// Rank 0 is done at 1 ms, and has then moved all, rank 1 at 4 ms, evenly.
PhaseSummary with_one_late(const IoRequest& request, IoOperation operation) {
  return summary_of(2, request, operation, [](int rank, Part& part) {
    part.row = row_of(4000, rank == 0 ? 1 << 20 : 4 << 20);
    for (std::size_t bin = 0; bin < (rank == 0 ? 1u : 4u); ++bin) part.row.series.bytes[bin] = rank == 0 ? 4000 : 1000;
  });
}

TEST(PhaseSummary, KnowsWhatWasMovedWhenTheFirstRankWasDone) {
  const PhaseSummary read = with_one_late({}, IoOperation::read);
  EXPECT_EQ(read.first_done_ns, 1 << 20);
  EXPECT_DOUBLE_EQ(read.bytes_per_s_first_done, 5000 * 1e9 / (1 << 20));
  EXPECT_DOUBLE_EQ(read.bytes_per_s, 8000 * 1e9 / (4 << 20));
  IoRequest request;
  EXPECT_TRUE(std::isnan(with_one_late(request, IoOperation::write).bytes_per_s_first_done))
      << "others' bytes may still be in the page cache";
  request.cache_path = storage::CachePath::direct;
  EXPECT_DOUBLE_EQ(with_one_late(request, IoOperation::write).bytes_per_s_first_done, read.bytes_per_s_first_done);
}

TEST(BytesUntil, AreSpreadWithinTheirBin) {
  RankPhase row = row_of(300, 2.5 * (1 << 20));
  row.series.bytes = {100, 100, 100};
  EXPECT_EQ(bytes_until(row, 0), 0u);
  EXPECT_EQ(bytes_until(row, 0.5 * (1 << 20)), 50u);
  EXPECT_EQ(bytes_until(row, 2.25 * (1 << 20)), 250u) << "the last bin ends when the rank is done";
  EXPECT_EQ(bytes_until(row, 2.5 * (1 << 20)), 300u);
  EXPECT_EQ(bytes_until(row, 1e12), 300u);
  row.ramp_bytes = 50;
  row.bytes = 250;
  EXPECT_EQ(bytes_until(row, 0.5 * (1 << 20)), 0u);
  EXPECT_EQ(bytes_until(row, 2.25 * (1 << 20)), 200u);
}

TEST(PhaseSummary, ASyncOutsideIsNoPartOfTheTransfer) {
  IoRequest request;
  request.sync = SyncTiming::outside;
  const PhaseSummary summary = summary_of(1, request, IoOperation::write, [](int, Part& part) {
    part.row = row_of(1000, 1000);
    time_in(part.row, IoTime::sync) = 700;
    time_in(part.row, IoTime::open) = 500;
  });
  EXPECT_DOUBLE_EQ(summary.bytes_per_s_transfer, 1000 / 500e-9);
}

TEST(PhaseSummary, SpreadsNameTheLowestOfRanksThatAreAlike) {
  const PhaseSummary summary = summary_of(5, [](int rank, Part& part) {
    part.row = row_of(1000, rank == 0 ? 30 : rank < 3 ? 10 : 50);
    if (rank == 2 || rank == 4) time_in(part.row, IoTime::open) = 7;
  });
  EXPECT_EQ(summary.io.num, 5u);
  EXPECT_EQ(summary.io.min, 10);
  EXPECT_EQ(summary.io.min_rank, 1);
  EXPECT_EQ(summary.io.max, 50);
  EXPECT_EQ(summary.io.max_rank, 3);
  EXPECT_DOUBLE_EQ(summary.io.mean, 30);
  EXPECT_EQ(time_in(summary, IoTime::open).num, 2u);
  EXPECT_EQ(time_in(summary, IoTime::open).min_rank, 2);
  EXPECT_EQ(time_in(summary, IoTime::open).max_rank, 2);
  EXPECT_EQ(time_in(summary, IoTime::close).num, 0u);
  EXPECT_TRUE(std::isnan(time_in(summary, IoTime::close).min));
}

TEST(TimeSums, DoNotDependOnTheOrderOfRanks) {
  TimeSums lower, higher;
  lower.add(2, 7);
  higher.add(6, 7);
  higher.add(lower);
  EXPECT_EQ(higher.min_rank, 2);
  EXPECT_EQ(higher.max_rank, 2);
  EXPECT_EQ(higher.num, 2u);
  EXPECT_EQ(higher.sum, 14);
}

TEST(PhaseSummary, LeavesOutRanksWithNothingToDo) {
  const PhaseSummary summary = summary_of(3, [](int rank, Part& part) {
    if (rank == 0) return;  // whose times would be the least, and begin first
    part.row = row_of(rank == 1 ? 0 : 1000, 100);
    part.row.begin_ns = 20;
  });
  EXPECT_EQ(summary.io.num, 2u);
  EXPECT_EQ(summary.io.min_rank, 1);
  EXPECT_DOUBLE_EQ(summary.wall_ns, 80);
}

TEST(PhaseSummary, OfNobodyIsNotANumber) {
  const PhaseSummary summary = summary_of(2, [](int, Part&) {});
  EXPECT_TRUE(std::isnan(summary.wall_ns));
  EXPECT_TRUE(std::isnan(summary.bytes_per_s));
  EXPECT_TRUE(std::isnan(summary.call_ns_p50));
  EXPECT_EQ(summary.io.num, 0u);
  EXPECT_FALSE(summary.cache_before.is_known);
}

TEST(PhaseSummary, OfAPhaseThatFailedHasTimesAndNoRates) {
  const PhaseSummary summary = summary_of(4, [](int rank, Part& part) {
    part.row = row_of(1000, rank == 3 ? 1e6 : 100);
    part.error = "the disk is full";
    part.stop_ns = 50;
  });
  EXPECT_FALSE(summary.is_complete);
  EXPECT_EQ(summary.error, "the disk is full");
  EXPECT_TRUE(std::isnan(summary.bytes_per_s));
  EXPECT_TRUE(std::isnan(summary.bytes_per_s_at_stop));
  EXPECT_EQ(summary.io.max, 1e6);
  EXPECT_EQ(summary.bytes, 4000u);
  EXPECT_FALSE(summary.is_durable);
}

TEST(PhaseSummary, KnowsWhatWasDoneAtTheStop) {
  const PhaseSummary summary = summary_of(2, [](int rank, Part& part) {
    part.row = row_of(1000, 100);
    part.row.bytes_at_stop = rank == 0 ? 300 : 200;
    part.stop_ns = rank == 0 ? 50 : 40;
  });
  EXPECT_TRUE(summary.has_stop);
  EXPECT_EQ(summary.stop_ns, 50);
  EXPECT_EQ(summary.bytes_at_stop, 500u);
  EXPECT_DOUBLE_EQ(summary.bytes_per_s_at_stop, 500 / 50e-9);
}

TEST(PhaseSummary, CoarsensSeriesToTheLongestBins) {
  const PhaseSummary summary = summary_of(2, [](int rank, Part& part) {
    part.row = row_of(1000, 100);
    ByteSeries& series = part.row.series;
    if (rank == 1) {
      series.bin_ns <<= 2;
      series.bytes[1] = 1000;
      series.bytes[127] = 5;
    } else {
      for (const std::size_t bin : {3u, 4u, 7u, 8u, 127u}) series.bytes[bin] = 1;
    }
  });
  EXPECT_EQ(summary.series.bin_ns, std::uint64_t{1} << 22);
  EXPECT_EQ(summary.series.bytes[0], 1u);
  EXPECT_EQ(summary.series.bytes[1], 1002u);
  EXPECT_EQ(summary.series.bytes[2], 1u);
  EXPECT_EQ(summary.series.bytes[31], 1u);
  EXPECT_EQ(summary.series.bytes[127], 5u);
}

TEST(PhaseSummary, MergesLatencies) {
  const PhaseSummary summary = summary_of(3, [](int rank, Part& part) {
    part.row = row_of(1000, 1e6);
    part.row.num_calls = rank == 2 ? 0 : 100;
    part.row.call_ns_min = rank == 0 ? 1500 : rank == 1 ? 5000 : 0;
    part.row.call_ns_max = rank == 0 ? 1600 : rank == 1 ? 6000 : 0;
    if (rank == 0) part.row.latencies[2] = 100;  // 1448 to 1722 ns
    if (rank == 1) part.row.latencies[9] = part.row.latencies[10] = 50;
  });
  EXPECT_EQ(summary.call_ns_min, 1500);
  EXPECT_EQ(summary.call_ns_max, 6000);
  EXPECT_EQ(summary.latencies[2], 100u);
  EXPECT_GE(summary.call_ns_p50, 1500);
  EXPECT_LE(summary.call_ns_p50, 1723);
  EXPECT_GT(summary.call_ns_p90, std::exp2(12.5));
  EXPECT_LE(summary.call_ns_p90, summary.call_ns_p99);
  EXPECT_LE(summary.call_ns_p99, summary.call_ns_p999);
  EXPECT_LE(summary.call_ns_p999, 6000);
}

TEST(LatencyQuantiles, AreWithinTheirBucketAndTheExtremes) {
  LatencyHistogram latencies{};
  EXPECT_TRUE(std::isnan(latency_quantile_ns(latencies, 0.5, 0, 0)));
  latencies[0] = 1;
  EXPECT_EQ(latency_quantile_ns(latencies, 0.5, 700, 700), 700);
  latencies[127] = 1;
  EXPECT_GE(latency_quantile_ns(latencies, 1, 700, 1e15), std::exp2(10 + 127.0 / 4));
  EXPECT_LE(latency_quantile_ns(latencies, 1, 700, 1e15), 1e15);
  EXPECT_EQ(latency_quantile_ns(latencies, 0, 0, 1e15), 0);

  latencies = {};
  latencies[40] = 1000;  // 2^20 to 2^20.25 ns
  const double low = std::exp2(20), high = std::exp2(20.25);
  EXPECT_NEAR(latency_quantile_ns(latencies, 0.5, low, high), std::exp2(20.125), 1e-3 * low);
  EXPECT_NEAR(latency_quantile_ns(latencies, 0.9, low, high), std::exp2(20.225), 1e-3 * low);
  EXPECT_EQ(latency_quantile_ns(latencies, 0.9, low, low), low);
}

/// A read of four ranks that each found `cached` of their 1000 pages in the cache.
PhaseSummary read_with(std::uint64_t cached, const IoRequest& request = {}, const std::string& file_system = "ext4",
                       bool is_known = true) {
  return summary_of(4, request, IoOperation::read, [&](int rank, Part& part) {
    part.file_system = file_system;
    if (rank == 3) {  // gets its object from an I/O rank, and has no pages
      part.row = row_of(0, 100);
      return;
    }
    part.row = row_of(1000, 100);
    part.row.cache_before = {is_known || rank != 2, 1000, cached, 1, 2};
  });
}

TEST(ReadSource, FollowsFromThePagesThatWereCachedBefore) {
  EXPECT_EQ(read_with(1000).source, ReadSource::cache);
  EXPECT_EQ(read_with(990).source, ReadSource::cache);
  EXPECT_EQ(read_with(980).source, ReadSource::mixed);
  EXPECT_EQ(read_with(11).source, ReadSource::mixed);
  EXPECT_EQ(read_with(10).source, ReadSource::storage);
  EXPECT_EQ(read_with(0).source, ReadSource::storage);
  const storage::CacheState before = read_with(500).cache_before;
  EXPECT_TRUE(before.is_known);
  EXPECT_EQ(before.pages, 3000u);
  EXPECT_EQ(before.cached, 1500u);
  EXPECT_EQ(before.dirty, 3u);
  EXPECT_EQ(before.writeback, 6u);
}

TEST(ReadSource, FollowsFromTheFileSystemOrTheCallsElsewhere) {
  EXPECT_EQ(read_with(0, {}, "tmpfs").source, ReadSource::cache);
  EXPECT_EQ(read_with(500, {}, "ext4", false).source, ReadSource::not_known);
  IoRequest request;
  request.cache_path = storage::CachePath::direct;
  EXPECT_EQ(read_with(1000, request).source, ReadSource::storage);
  request.cache_path = storage::CachePath::uncached;
  EXPECT_EQ(read_with(0, request, "ext4", false).source, ReadSource::storage);
  EXPECT_EQ(read_with(1000, request).source, ReadSource::cache);  // such calls take what is there
  request.no_file = true;
  EXPECT_EQ(read_with(1000, request).source, ReadSource::not_known);
}

PhaseSummary write_with(SyncTiming sync, const storage::CacheState& after, const std::string& file_system = "ext4") {
  IoRequest request;
  request.sync = sync;
  return summary_of(2, request, IoOperation::write, [&](int rank, Part& part) {
    part.file_system = file_system;
    part.row = row_of(1000, 100);
    part.row.cache_after = rank == 1 ? after : storage::CacheState{true, 10, 10, 0, 0};
  });
}

TEST(PhaseSummary, IsDurableWhereASyncIsInsideAndFilesAreNotInMemory) {
  EXPECT_TRUE(write_with(SyncTiming::inside, {}).is_durable);
  EXPECT_FALSE(write_with(SyncTiming::inside, {}, "tmpfs").is_durable);
  EXPECT_FALSE(write_with(SyncTiming::none, {true, 10, 10, 0, 0}).is_durable) << "it may be in caches of the disk";
  EXPECT_FALSE(write_with(SyncTiming::none, {true, 10, 10, 1, 0}).is_durable);
  EXPECT_FALSE(write_with(SyncTiming::outside, {true, 10, 10, 0, 1}).is_durable);
  EXPECT_FALSE(write_with(SyncTiming::none, {}).is_durable);
  EXPECT_EQ(write_with(SyncTiming::none, {}).source, ReadSource::not_known);
}

PhaseSummary phase_of(IoOperation operation, double bytes_per_s, bool is_complete = true) {
  PhaseSummary phase;
  phase.position.operation = operation;
  phase.is_complete = is_complete;
  phase.bytes_per_s = bytes_per_s;
  return phase;
}

std::string partial_result_of(std::uint64_t phase, std::uint64_t num_bytes) {
  const PartialPhase partial{phase, 3, 1e6 * static_cast<double>(num_bytes), num_bytes, 2 * num_bytes, 1};
  return std::string(reinterpret_cast<const char*>(&partial), sizeof partial) + (phase == 3 ? "writing f" : "");
}

TEST(InterruptedPhase, HasWhatIsKnownOfRanksThatWereInIt) {
  // Rank 1 died, rank 2 had not begun, and rank 4 was still in the phase before.
  const cluster::PartialResults partial_results{
      {0, partial_result_of(3, 10)}, {2, ""}, {3, partial_result_of(3, 30)}, {4, partial_result_of(2, 50)}};
  const auto summary = interrupted_phase({3, IoOperation::read, 1}, partial_results, "told to stop");
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->position.index, 3);
  EXPECT_TRUE(summary->is_interrupted);
  EXPECT_FALSE(summary->is_complete);
  EXPECT_EQ(summary->error, "interrupted: told to stop");
  EXPECT_EQ(summary->bytes, 40u);
  EXPECT_EQ(summary->message_bytes, 40u) << "both ends count";
  EXPECT_EQ(summary->wall_ns, 30e6);
  EXPECT_TRUE(std::isnan(summary->bytes_per_s));
  ASSERT_EQ(summary->at_interruption.size(), 2u);
  EXPECT_EQ(summary->at_interruption[1].rank, 3);
  EXPECT_EQ(summary->at_interruption[1].file, 3);
  EXPECT_EQ(summary->at_interruption[1].bytes, 30u);
  EXPECT_EQ(summary->at_interruption[1].call, "writing f");
  EXPECT_EQ(summary->at_interruption[1].time_ns, 30e6);
  EXPECT_THAT(summarize_operations({*summary}), IsEmpty());
}

TEST(InterruptedPhase, IsNoneWhereNoRankHasBegunIt) {
  EXPECT_FALSE(interrupted_phase({3, IoOperation::read, 1}, {{0, ""}, {1, partial_result_of(2, 10)}}, "told to stop"));
}

TEST(Operations, SumUpTheirCompletePhases) {
  using enum IoOperation;
  const auto operations = summarize_operations(
      {phase_of(read, 5), phase_of(write, 1), phase_of(write, 6), phase_of(write, 2), phase_of(write, 99, false)});
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].operation, write);
  EXPECT_EQ(operations[0].num, 3u);
  EXPECT_EQ(operations[0].min, 1);
  EXPECT_EQ(operations[0].median, 2);
  EXPECT_DOUBLE_EQ(operations[0].mean, 3);
  EXPECT_EQ(operations[0].max, 6);
  EXPECT_NEAR(operations[0].half_width, 4.302653 * std::sqrt(7.0 / 3), 1e-5);
  EXPECT_EQ(operations[1].num, 1u);
  EXPECT_EQ(operations[1].mean, 5);
  EXPECT_TRUE(std::isnan(operations[1].half_width));
  EXPECT_THAT(summarize_operations({}), IsEmpty());
}

}  // namespace
}  // namespace leadline::bench::io
