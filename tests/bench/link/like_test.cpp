// SPDX-License-Identifier: Apache-2.0
// Runs that measure as other benchmarks do: what --like sets, what other options change of it, and the table it prints.
#include "bench/link/like.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/link/command.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/text.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::link::like_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

LinkRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "link"});
  return parse_link(words);
}

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { parse(words); }, words);
}

/// Messages, warm-up, batches.
std::vector<std::uint64_t> counts(const LinkRequest& request, std::uint64_t message_size_bytes) {
  const MessageCounts of_size = message_counts(request, message_size_bytes);
  return {of_size.num_messages, of_size.num_warmup, of_size.num_batches};
}

TEST(MessagesBySize, ChangeTheNumbersFromASizeOn) {
  const LinkRequest request =
      parse({"--messages", "100", "--batches", "20", "--messages-by-size", "16KiB:50:5,1MiB:2:0"});
  EXPECT_THAT(counts(request, 0), ElementsAre(100, 10, 20));
  EXPECT_THAT(counts(request, 16383), ElementsAre(100, 10, 20));
  EXPECT_THAT(counts(request, 16384), ElementsAre(50, 5, 10)) << "batches of five messages, as before";
  EXPECT_THAT(counts(request, 1 << 20), ElementsAre(2, 0, 1));
  EXPECT_THAT(counts(parse({"--messages", "5"}), 8), ElementsAre(5, 10, 5)) << "a batch has a message";
}

TEST(MessagesBySize, RefuseWhatIsNoList) {
  EXPECT_THAT(refusal({"--messages-by-size", "16KiB:50"}), HasSubstr("SIZE:MESSAGES:WARMUP"));
  EXPECT_THAT(refusal({"--messages-by-size", "16KiB:0:1"}), HasSubstr("--messages-by-size"));
  EXPECT_THAT(refusal({"--messages-by-size", "16KiB:5:1,8KiB:6:1"}), HasSubstr("ascend"));
  EXPECT_THAT(refusal({"--buffers", "8", "--messages-by-size", "1MiB:5:1"}), HasSubstr("--buffers"));
}

TEST(Like, OsuLatencyReadsTheClockAtEachRoundTrip) {
  const LinkRequest request = parse({"--like", "osu-latency"});
  EXPECT_EQ(request.direction, Direction::semidirectional);
  EXPECT_EQ(request.message_sizes_bytes.size(), 23u);
  EXPECT_THAT(counts(request, 8192), ElementsAre(10'000, 100, 10'000));
  EXPECT_THAT(counts(request, 16384), ElementsAre(1000, 10, 1000));
}

TEST(Like, OsuBandwidthsReadItAtEachWindow) {
  for (const char* const name : {"osu-bw", "osu-mbw-mr"}) {
    const LinkRequest request = parse({"--like", name});
    EXPECT_EQ(request.direction, Direction::unidirectional);
    EXPECT_EQ(request.window, 64u);
    EXPECT_THAT(counts(request, 8192), ElementsAre(6400, 640, 100));
    EXPECT_THAT(counts(request, 16384), ElementsAre(1280, 128, 20));
  }
  EXPECT_EQ(parse({"--like", "osu-bibw"}).direction, Direction::bidirectional);
  const LinkRequest pairs = parse({"--like", "osu-mbw-mr"});
  EXPECT_TRUE(pairs.bisection);
  EXPECT_THAT(pairs.only_rounds, ElementsAre(1));
}

TEST(Like, ImbPingPongHasFewerMessagesTheLargerTheyAre) {
  const LinkRequest request = parse({"--like", "imb-pingpong"});
  EXPECT_EQ(request.message_sizes_bytes.front(), 0u);
  EXPECT_THAT(counts(request, 32768), ElementsAre(1000, 100, 1));
  EXPECT_THAT(counts(request, 65536), ElementsAre(640, 64, 1));
  EXPECT_THAT(counts(request, 4 << 20), ElementsAre(10, 10, 1));
}

TEST(Like, MpiGraphIsAShiftWithABufferForEachMessage) {
  const LinkRequest request = parse({"--like", "mpigraph"});
  EXPECT_TRUE(request.shift);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1 << 20));
  EXPECT_EQ(request.num_buffers, 10u);
  EXPECT_THAT(counts(request, 1 << 20), ElementsAre(100, 0, 10));
  const LinkRequest as_built_in = parse({"--like", "mpigraph", "--message-size", "16KiB", "--window", "50"});
  EXPECT_EQ(as_built_in.num_buffers, 50u);
  EXPECT_THAT(counts(as_built_in, 1 << 14), ElementsAre(500, 0, 10));
}

TEST(Shift, TimesWholeWindows) {
  const LinkRequest request = parse({"--shift", "--messages", "40", "--messages-by-size", "1MiB:20:10"});
  EXPECT_EQ(request.direction, Direction::unidirectional);
  EXPECT_EQ(request.window, 10u);
  EXPECT_THAT(counts(request, 8), ElementsAre(40, 10, 4));
  EXPECT_THAT(counts(request, 1 << 20), ElementsAre(20, 10, 2));
  EXPECT_EQ(parse({"--shift", "--messages", "4"}).window, 4u);
}

TEST(Shift, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal({"--shift", "--window", "7"}), HasSubstr("multiple of --window"));
  EXPECT_THAT(refusal({"--shift", "--message-size", "0B"}), HasSubstr("at least 1 byte"));
  for (const char* const option : {"--serial", "--bisection", "--between-hosts", "--verify", "--health-check"}) {
    EXPECT_THAT(refusal({"--shift", option}), HasSubstr(option));
    EXPECT_THAT(refusal({"--like", "mpigraph", option}), HasSubstr("--like mpigraph"));
  }
  EXPECT_THAT(refusal({"--shift", "--direction", "bidirectional"}), HasSubstr("--direction"));
  EXPECT_THAT(refusal({"--shift", "--budget", "5"}), HasSubstr("--budget"));
}

TEST(Like, IsOverriddenByWhatIsGiven) {
  const LinkRequest request = parse({"--like", "osu-bw", "--window", "16", "--message-size", "1KiB"});
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1024));
  EXPECT_THAT(counts(request, 1024), ElementsAre(1600, 160, 100)) << "a window is timed";
  EXPECT_THAT(differences_from_like(request), HasSubstr("--window 16"));
  EXPECT_EQ(differences_from_like(parse({"--like", "osu-bw", "--message-size", "1KiB"})), "");
  EXPECT_THAT(counts(parse({"--like", "osu-latency", "--messages", "50"}), 1 << 20), ElementsAre(50, 100, 50))
      << "of all sizes";
}

TEST(Like, RefusesWhatLeavesNothingOfIt) {
  EXPECT_THAT(refusal({"--like", "osu-bw", "--direction", "semidirectional"}), HasSubstr("--direction"));
  EXPECT_THAT(refusal({"--like", "osu-mbw-mr", "--budget", "5"}), HasSubstr("--budget"));
  EXPECT_THAT(refusal({"--like", "osu-bw", "--shift"}), HasSubstr("--shift"));
  EXPECT_THAT(refusal({"--like", "osu_latency"}), HasSubstr("osu-latency"));
}

TEST(Like, SaysWhatItWillDo) {
  const LinkRequest request = parse({"--like", "osu-latency", "--dry-run", "--ranks", "2"});
  const std::vector<std::uint32_t> hosts{0, 1};
  const std::string text = plan_text(request, plan(request, {2, 1, hosts}));
  EXPECT_THAT(text, HasSubstr("10000 messages after 100 for warm-up, in 10000 timed batches"));
  EXPECT_THAT(text, HasSubstr("from 8193 B on: 1000 messages after 10 for warm-up, in 1000 timed batches"));
  EXPECT_THAT(text, HasSubstr("As osu-latency does\n"));
}

LinkResult result_of(std::vector<std::string> words, Spread mean_time_ns) {
  LinkResult result;
  result.request = parse(std::move(words));
  SliceSummary summary;
  summary.slice.message_size_bytes = 1000;
  summary.mean_time_ns = mean_time_ns;
  result.slices = {summary};
  return result;
}

TEST(LikeText, HasTheColumnsOfTheOtherProgram) {
  const std::string latency = like_text(result_of({"--like", "osu-latency"}, {2, 1900, 2000, 2100}));
  EXPECT_THAT(latency, HasSubstr("# Size         Avg Latency(us)\n1000                     2.000\n"));
  const std::string one_way = like_text(result_of({"--like", "osu-bw"}, {2, 100, 200, 300}));
  EXPECT_THAT(one_way, HasSubstr("# Size        Bandwidth (MB/s)\n1000                   5000.00\n"));
  const std::string both_ways = like_text(result_of({"--like", "osu-bibw"}, {2, 100, 200, 300}));
  EXPECT_THAT(both_ways, HasSubstr("\n1000                  10000.00\n")) << "both directions count";
  const std::string imb = like_text(result_of({"--like", "imb-pingpong"}, {2, 1900, 2000, 2100}));
  EXPECT_THAT(imb, HasSubstr("#bytes #repetitions      t[usec]   Mbytes/sec\n"));
  EXPECT_THAT(imb, HasSubstr("\n         1000         1000        2.000       500.00\n"));
}

TEST(LikeText, OfManyPairsHasTheirExtremesOrTheirSum) {
  const std::string latency = like_text(result_of({"--like", "osu-latency"}, {12, 1900, 2000, 2100}));
  EXPECT_THAT(latency, HasSubstr("Min Latency(us)     Max Latency(us)\n"));
  EXPECT_THAT(latency, HasSubstr("\n1000                     2.000               1.900               2.100\n"));
  const std::string rate = like_text(result_of({"--like", "osu-mbw-mr"}, {8, 100, 200, 300}));
  EXPECT_THAT(rate, HasSubstr("# [ pairs: 4 ] [ window size: 64 ]\n"));
  EXPECT_THAT(rate, HasSubstr("\n1000                  20000.00         20000000.00\n"));
}

TEST(LikeText, OfMpiGraphHasBothEndsInMebibytes) {
  LinkResult result = result_of({"--like", "mpigraph"}, {12, 500, 1000, 1500});
  result.slices.front().slice.message_size_bytes = 1 << 20;
  result.slices.front().received_mean_time_ns = {12, 400, 800, 1200};
  EXPECT_THAT(like_text(result), HasSubstr("MsgSize\t1048576\nTimes\t10\nWindow\t10\n"
                                           "Send max\t2000000.000000\nSend avg\t1000000.000000\n"
                                           "Recv max\t2500000.000000\nRecv avg\t1250000.000000\n"));
}

TEST(LikeText, SaysWhatDiffersAndIsEmptyWithoutLike) {
  EXPECT_THAT(like_text(result_of({"--like", "osu-latency", "--messages", "7"}, {2, 1, 2, 3})),
              HasSubstr("# not as osu_latency: --messages 7"));
  EXPECT_THAT(like_text(result_of({"--like", "osu-latency"}, {2, 1, 2, 3})), Not(HasSubstr("# not as")));
  EXPECT_EQ(like_text(result_of({}, {})), "");
}

TEST(LikeText, IsTheMeanOverRepeats) {
  LinkResult result = result_of({"--like", "osu-latency"}, {2, 1000, 1000, 1000});
  result.slices.push_back(result.slices.front());
  result.slices.back().mean_time_ns = {2, 2000, 2000, 2000};
  EXPECT_THAT(like_text(result), HasSubstr("\n1000                     1.500\n"));
}

}  // namespace
}  // namespace leadline::bench::link::like_test
