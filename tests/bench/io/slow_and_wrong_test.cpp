// SPDX-License-Identifier: Apache-2.0
// Which calls and objects of a phase are told one by one.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "bench/io/phases.hpp"
#include "bench/io/summary.hpp"

namespace leadline::bench::io {
namespace {

using testing::ElementsAre;

SlowCall call_of(double time_ns, std::uint64_t offset_bytes) {
  SlowCall call;
  call.time_ns = time_ns;
  call.offset_bytes = offset_bytes;
  call.size_bytes = 10 * offset_bytes;
  call.begin_ns = 3;
  return call;
}

TEST(SlowCalls, AreTheSlowestOfAllRanks) {
  IoRequest request;
  request.num_slow_calls = 3;
  const PhaseSummary summary = summary_of(3, request, IoOperation::write, [](int rank, Part& part) {
    part.row = row_of(1000, 100);
    part.host = "node" + std::to_string(rank);
    if (rank == 0) part.slow_calls = {call_of(5, 1), call_of(90, 2)};
    if (rank == 1) part.slow_calls = {call_of(7, 3)};
    if (rank == 2) part.slow_calls = {call_of(6, 4), call_of(7, 5), call_of(4, 6)};
  });
  const std::vector<SlowCall>& calls = summary.slow_calls;
  ASSERT_EQ(calls.size(), 3u);
  const auto times = {calls[0].time_ns, calls[1].time_ns, calls[2].time_ns};
  EXPECT_THAT(times, ElementsAre(90, 7, 7));
  EXPECT_EQ(calls[1].rank, 1);
  EXPECT_EQ(calls[2].rank, 2);
  EXPECT_EQ(calls[2].host, "node2");
  EXPECT_EQ(calls[2].file, "a");
  EXPECT_EQ(calls[2].offset_bytes, 5u);
  EXPECT_EQ(calls[2].size_bytes, 50u);
  EXPECT_EQ(calls[2].begin_ns, 3);
}

WrongObject wrong_of(memory::MismatchKind kind, std::uint64_t offset_bytes) {
  WrongObject wrong;
  wrong.mismatch.kind = kind;
  wrong.mismatch.expected.file = 1;
  wrong.mismatch.expected.offset_bytes = offset_bytes;
  wrong.mismatch.found = memory::ObjectKey{.rank = 9};
  return wrong;
}

TEST(WrongObjects, AreTheWorstOfAllRanksThenTheLowest) {
  using memory::MismatchKind;
  const PhaseSummary summary = summary_of(4, {}, IoOperation::read, [](int rank, Part& part) {
    part.row = row_of(1000, 100);
    part.host = "node" + std::to_string(rank);
    if (rank > 0) part.files = {"", ""};  // known to rank 0 alone
    for (std::uint64_t i = 0; i < 3; ++i) {
      part.wrong.push_back(wrong_of(rank == 2 && i == 1 ? MismatchKind::bit_flips : MismatchKind::zeros, 10 - i));
    }
    if (rank == 3) part.wrong.front() = wrong_of(MismatchKind::other_rank, 77);
  });
  ASSERT_EQ(summary.wrong.size(), num_wrong_kept);
  EXPECT_EQ(summary.wrong[0].mismatch.kind, MismatchKind::bit_flips);
  EXPECT_EQ(summary.wrong[0].read_by, 2);
  EXPECT_EQ(summary.wrong[0].host, "node2");
  EXPECT_EQ(summary.wrong[0].file, "b");
  EXPECT_EQ(summary.wrong[0].mismatch.found->rank, 9u);
  EXPECT_EQ(summary.wrong[1].mismatch.kind, MismatchKind::other_rank);
  EXPECT_EQ(summary.wrong[1].read_by, 3);
  EXPECT_EQ(summary.wrong[2].read_by, 0);
  EXPECT_EQ(summary.wrong[2].mismatch.expected.offset_bytes, 8u);
  EXPECT_EQ(summary.wrong[5].read_by, 1);
}

}  // namespace
}  // namespace leadline::bench::io
