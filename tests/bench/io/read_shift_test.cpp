// SPDX-License-Identifier: Apache-2.0
// Shifted reads: every rank's objects are read once, and by another host where that was asked for.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "bench/io/plan.hpp"
#include "bench/io/ranks.hpp"

namespace leadline::bench::io {
namespace {

using schedule::Movement;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Every rank's objects are read by exactly one; whose, by rank.
std::vector<std::int32_t> read_by(const Ranks& ranks, ReadShift shift, std::int64_t by) {
  IoRequest request = IoRequest{};
  request.read_shift = shift;
  request.read_shift_by = by;
  const Plan plan = ranks.plan(request);
  std::vector<std::int32_t> reads;
  for (std::size_t rank = 0; rank < ranks.host_of.size(); ++rank) {
    reads.push_back(reads_for(plan, request, static_cast<int>(rank)));
  }
  EXPECT_EQ(std::set<std::int32_t>(reads.begin(), reads.end()).size(), reads.size());
  EXPECT_THAT(reads, Each(AllOf(testing::Ge(0), testing::Lt(static_cast<int>(reads.size())))));
  return reads;
}

TEST(IoPlanShift, OfRanksGoesRound) {
  EXPECT_THAT(read_by(Ranks(4, 2), ReadShift::none, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(read_by(Ranks(4, 2), ReadShift::ranks, 1), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(read_by(Ranks(4, 2), ReadShift::ranks, 6), ElementsAre(2, 3, 0, 1));
}

TEST(IoPlanShift, OfHostsKeepsThePositionOnTheHost) {
  EXPECT_THAT(read_by(Ranks(6, 2), ReadShift::hosts, 1), ElementsAre(2, 3, 4, 5, 0, 1));
  EXPECT_THAT(read_by(Ranks(6, 2), ReadShift::hosts, 2), ElementsAre(4, 5, 0, 1, 2, 3));
  EXPECT_THAT(read_by(Ranks(Hosts{0, 1, 2, 0, 1, 2}), ReadShift::hosts, 1), ElementsAre(1, 2, 0, 4, 5, 3));
}

TEST(IoPlanShift, OfHostsNeverReadsWhatItsHostWroteForAllSmallSpreads) {
  for (std::uint32_t first = 1; first <= 4; ++first) {
    for (std::uint32_t second = 1; second <= 4; ++second) {
      for (std::uint32_t third = 0; third <= 4; ++third) {
        if (2 * std::max({first, second, third}) > first + second + third) continue;
        Hosts hosts(first, 0);
        hosts.insert(hosts.end(), second, 1);
        hosts.insert(hosts.end(), third, 2);
        std::ranges::reverse(hosts);  // ranks of one host need not lie in the order of hosts
        const Ranks ranks(hosts);
        for (std::int64_t by = 1; by < static_cast<std::int64_t>(ranks.names.hosts.size()); ++by) {
          const auto reads = read_by(ranks, ReadShift::hosts, by);
          for (std::size_t rank = 0; rank < reads.size(); ++rank) {
            ASSERT_NE(hosts[rank], hosts[static_cast<std::size_t>(reads[rank])])
                << first << ' ' << second << ' ' << third << " by " << by;
          }
        }
      }
    }
  }
}

TEST(IoPlanShift, IsRefusedWhereItLeadsNowhere) {
  IoRequest request;
  request.read_shift = ReadShift::ranks;
  request.read_shift_by = 4;
  EXPECT_THAT(Ranks(4, 2).refusal(request), AllOf(HasSubstr("--read-shift cannot be ranks:4"), HasSubstr("ranks:3")));
  EXPECT_THAT(Ranks(1, 1).refusal(request), HasSubstr("there is 1 rank"));
  request.read_shift = ReadShift::hosts;
  request.read_shift_by = 1;
  EXPECT_THAT(Ranks(4, 4).refusal(request), AllOf(HasSubstr("--read-shift cannot be hosts:1"), HasSubstr("one host")));
  EXPECT_THAT(Ranks(Hosts{0, 0, 0, 1}).refusal(request), HasSubstr("3 of 4 ranks"));
  request.read_shift_by = 2;
  EXPECT_THAT(Ranks(4, 2).refusal(request), HasSubstr("every rank would read its own"));
  request.read_shift_by = 1;
  request.movement = Movement::n_m_1;
  EXPECT_THAT(Ranks(4, 2).refusal(request), HasSubstr("--read-shift cannot be had"));
}

}  // namespace
}  // namespace leadline::bench::io
