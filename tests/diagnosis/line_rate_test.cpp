// SPDX-License-Identifier: Apache-2.0
// What pairs between hosts reach of what their adapters carry.
#include "diagnosis/line_rate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace leadline::diagnosis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t mebi = 1 << 20;
const LineRate ten_gigabit{"eth0, 10 Gb/s", 1.25e9};

/// Two ranks a host; every pair takes `alone_ns` where it is measured again, but for those inside hosts, which take 1
/// ns.
Diagnosis compared(double alone_ns, const LineRate& line_rate = ten_gigabit, std::uint64_t size_bytes = mebi,
                   std::uint32_t num_hosts = 4) {
  const std::uint32_t num_ranks = 2 * num_hosts;
  Layout layout;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) layout.host_of.push_back(rank / 2);
  DenseRows rows(num_ranks, 1);
  for (std::uint32_t from = 0; from < num_ranks; ++from) {
    std::vector<double> logarithms(num_ranks, std::log(5 * alone_ns));
    logarithms[from] = std::numeric_limits<double>::quiet_NaN();
    rows.set(from, logarithms);
  }
  const Retest retest = [&](std::span<const OrderedPair> pairs, Load load) {
    EXPECT_EQ(load, Load::alone);
    std::vector<RetestTimes> times;
    for (const OrderedPair& pair : pairs) {
      const double time_ns = layout.host_of[pair.from] == layout.host_of[pair.to] ? 1 : alone_ns;
      times.push_back({time_ns, time_ns});
    }
    return times;
  };
  Diagnosis found;
  compare_with_line_rate(line_rate, rows, layout, retest, size_bytes, found);
  return found;
}

TEST(LineRate, IsBesideThePairsThatWereMeasuredAlone) {
  const double at_line_rate_ns = 1e9 * mebi / 1.25e9;
  const Diagnosis good = compared(at_line_rate_ns / 0.95);
  ASSERT_TRUE(good.line_rate);
  EXPECT_NEAR(good.line_rate->share, 0.95, 1e-9);
  EXPECT_GE(good.line_rate->num_pairs, 3u);
  EXPECT_THAT(good.notes,
              ElementsAre("alone a pair between hosts reaches 95 % of the line rate of its adapter (eth0, 10 Gb/s)"));
  const Diagnosis bad = compared(at_line_rate_ns / 0.1);
  EXPECT_NEAR(bad.line_rate->bytes_per_s, 0.125e9, 1);
  EXPECT_THAT(bad.notes, ElementsAre(HasSubstr("reaches 10 % of the line rate of its adapter (eth0, 10 Gb/s): 119.2")));
}

TEST(LineRate, IsNothingToCompareWithHere) {
  const double at_line_rate_ns = 1e9 * mebi / 1.25e9;
  for (const Diagnosis& none : {compared(at_line_rate_ns, {}), compared(at_line_rate_ns, ten_gigabit, mebi / 2),
                                compared(at_line_rate_ns, ten_gigabit, mebi, 1), compared(at_line_rate_ns / 1.3)}) {
    EXPECT_FALSE(none.line_rate);
    EXPECT_THAT(none.notes, IsEmpty());
  }
}

}  // namespace
}  // namespace leadline::diagnosis
