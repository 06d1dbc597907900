// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline congestion`: defaults, values, and what is refused.
#include "bench/congestion/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/congestion/plan.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::congestion::command_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

CongestionRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "congestion"});
  return parse_congestion_command(words);
}

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { parse(words); }, words);
}

TEST(CongestionOptions, HaveTheDefaultsOfTheHelp) {
  const CongestionRequest request = parse({});
  EXPECT_DOUBLE_EQ(request.victims, 0.2);
  EXPECT_FALSE(request.share_hosts);
  EXPECT_THAT(request.loads, ElementsAre("incast"));
  EXPECT_THAT(request.intensities, ElementsAre("0", "25", "50", "100%"));
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(128 << 10));
  EXPECT_EQ(request.load_size_bytes, 128u << 10);
  EXPECT_EQ(request.rounds, 10u);
  EXPECT_DOUBLE_EQ(request.test_time_s, 0.1);
  EXPECT_DOUBLE_EQ(request.interval_s, 1e-4);
  EXPECT_EQ(request.fail_above, 0);
}

TEST(CongestionOptions, SetTheirMember) {
  const CongestionRequest request = parse({"--victims",
                                           "30%",
                                           "--share-hosts",
                                           "--load",
                                           "random,complete",
                                           "--intensity",
                                           "10,90%",
                                           "--load-size",
                                           "1MiB",
                                           "--message-size",
                                           "64KiB",
                                           "--rounds",
                                           "3",
                                           "--test-time",
                                           "50ms",
                                           "--interval",
                                           "10ms",
                                           "--seed",
                                           "9",
                                           "--topology",
                                           "fat-tree:2x2",
                                           "--fail-above",
                                           "1.5"});
  EXPECT_DOUBLE_EQ(request.victims, 0.3);
  EXPECT_TRUE(request.share_hosts);
  EXPECT_THAT(request.loads, ElementsAre("random", "complete"));
  EXPECT_THAT(request.intensities, ElementsAre("10", "90%"));
  EXPECT_EQ(request.load_size_bytes, 1u << 20);
  EXPECT_EQ(bandwidth_size_bytes(request), 64u << 10);
  EXPECT_EQ(request.rounds, 3u);
  EXPECT_DOUBLE_EQ(request.test_time_s, 0.05);
  EXPECT_DOUBLE_EQ(request.interval_s, 0.01);
  EXPECT_EQ(request.seed, 9u);
  EXPECT_EQ(request.topology, "fat-tree:2x2");
  EXPECT_DOUBLE_EQ(request.fail_above, 1.5);
}

TEST(CongestionOptions, RefuseWhatIsNoValue) {
  EXPECT_THAT(refusal({"--load", "storm"}), AllOf(HasSubstr("--load"), HasSubstr("incast, complete, random")));
  EXPECT_THAT(refusal({"--intensity", "101"}), AllOf(HasSubstr("--intensity"), HasSubstr("100")));
  EXPECT_THAT(refusal({"--intensity", "half"}), HasSubstr("--intensity"));
  EXPECT_THAT(refusal({"--fail-above", "0.5"}), AllOf(HasSubstr("--fail-above"), HasSubstr("from 1 on")));
  EXPECT_THAT(refusal({"--fail-above", "2x"}), HasSubstr("--fail-above"));
  EXPECT_THAT(refusal({"--fail-above", "nan"}), HasSubstr("--fail-above"));
  EXPECT_THAT(refusal({"--victims", "0"}), HasSubstr("--victims"));
  EXPECT_THAT(refusal({"--rounds", "1"}), HasSubstr("--rounds"));
  EXPECT_THAT(refusal({"--message-size", "8B,16B"}), HasSubstr("--message-size has several sizes"));
  EXPECT_THAT(refusal({"--output", "r.sion"}), HasSubstr("SION"));
}

TEST(CongestionOptions, RefuseWhatWouldHaveNoEffect) {
  EXPECT_THAT(refusal({"--intensity", "0", "--load", "incast"}), HasSubstr("--load has no effect"));
  EXPECT_THAT(refusal({"--intensity", "0%", "--fail-above", "2"}), HasSubstr("--fail-above has no effect"));
}

TEST(CongestionOptions, RefuseThePlanOfTwice) {
  const std::vector<std::uint32_t> host_of{0, 1, 2, 3};
  const auto planned = [&](const test::Words& words) {
    return test::refusal_of([&] { plan(parse(words), {4, 1, host_of}, {false, false, false, false}); }, words);
  };
  EXPECT_THAT(planned({"--load", "incast,incast"}), HasSubstr("--load has incast twice"));
  EXPECT_THAT(planned({"--intensity", "50,50%"}), HasSubstr("--intensity has 50 % twice"));
}

}  // namespace
}  // namespace leadline::bench::congestion::command_test
