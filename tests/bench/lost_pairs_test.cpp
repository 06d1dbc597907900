// SPDX-License-Identifier: Apache-2.0
// What is said of pairs that could not be measured: which host is behind many of them, and which two are not.
#include "bench/lost_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leadline::bench {
namespace {

using testing::HasSubstr;

/// Two ranks on each of five hosts.
const std::vector<std::uint32_t> ten_ranks{0, 0, 1, 1, 2, 2, 3, 3, 4, 4};

std::optional<Finding> finding(const Losses& losses) {
  return lost_pairs_finding(losses, ten_ranks, [](std::uint32_t host) { return "node" + std::to_string(host); });
}

TEST(LostPairsFinding, SaysNothingOfNothing) { EXPECT_FALSE(finding({})); }

TEST(LostPairsFinding, NamesBothHostsOfAPair) {
  const auto one = finding({{{2, 5, "rank 2: no answer"}}, {}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->severity, Severity::warning);
  EXPECT_EQ(one->message, "1 pair of ranks could not be measured: node1 and node2 do not reach each other.");
  EXPECT_EQ(one->evidence, "rank 2 on node1 and rank 5 on node2 (rank 2: no answer)");
}

TEST(LostPairsFinding, NamesTheHostThatDoesNotReachMostOthers) {
  const auto one = finding({{{0, 6, "w"}, {3, 7, "w"}, {6, 8, "w"}}, {}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->message, "3 pairs of ranks could not be measured: node3 does not reach 3 of 4 other hosts.");
}

TEST(LostPairsFinding, NamesAHostAndAPairBeside) {
  const auto one = finding({{{0, 6, "w"}, {3, 7, "w"}, {6, 8, "w"}, {0, 2, "w"}}, {}});
  ASSERT_TRUE(one);
  EXPECT_THAT(one->message, HasSubstr("node3 does not reach 3 of 4 other hosts; node0 and node1 do not reach each"));
}

TEST(LostPairsFinding, BlamesNobodyForTwoOfFour) {
  const auto one = finding({{{0, 6, "w"}, {3, 7, "w"}}, {}});
  EXPECT_THAT(one->ranks, testing::ElementsAre(0, 3, 6, 7));
  EXPECT_EQ(one->host_names, (std::vector<std::string>{"node0", "node1", "node3"}));
  ASSERT_TRUE(one);
  EXPECT_THAT(one->message, HasSubstr("node0 and node3 do not reach each other; node1 and node3 do not"));
}

TEST(LostPairsFinding, CountsThePairsOfARankThatIsCutOff) {
  const auto one = finding({{{0, 6, "w"}, {2, 6, "w"}, {4, 6, "w"}}, {6}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->message, "8 pairs of ranks could not be measured: node3 does not reach 4 of 4 other hosts.");
  EXPECT_THAT(one->evidence, HasSubstr("and 5 more"));
}

TEST(LostPairsFinding, HasNoHostsForAPairOnOne) {
  const auto one = finding({{{0, 1, "rank 0: it broke"}}, {}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->message, "1 pair of ranks could not be measured.");
  EXPECT_EQ(one->evidence, "rank 0 on node0 and rank 1 on node0 (rank 0: it broke)");
}

TEST(CauseOf, IsNotThatTheOtherEndClosedTheLink) {
  const LostPair closed{2, 5, "rank 2: the other end closed it", true}, cause{2, 5, "rank 5: transport retries", false};
  const LostPair later{2, 5, "rank 2: no answer", false};
  EXPECT_EQ(cause_of(closed, cause).why, cause.why);
  EXPECT_EQ(cause_of(cause, closed).why, cause.why);
  EXPECT_EQ(cause_of(cause, later).why, cause.why);
  EXPECT_EQ(cause_of(closed, closed).why, closed.why);
}

}  // namespace
}  // namespace leadline::bench
