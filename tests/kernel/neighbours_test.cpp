// SPDX-License-Identifier: Apache-2.0
// Exchanges with many neighbours, call by call: those of NETTEST's six procedures, then steps, samples and tracing.
#include "kernel/neighbours.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "kernel/recording_neighbours.hpp"

namespace leadline::kernel::neighbours_test {
namespace {

using Channels = std::vector<NeighbourChannel>;
using StepEnds = std::vector<std::uint32_t>;

constexpr Part sends = Part::sends, receives_only = Part::receives, both = Part::both, answers = Part::answers;

StepEnds one_step(const Channels& channels) { return {static_cast<std::uint32_t>(channels.size())}; }

/// What one rank calls between the readings of the clock.
std::string calls_of(const Channels& channels, const StepEnds& step_ends) {
  RecordingNeighbours links{channels};
  ExchangeSample sample;
  ProgressCounter progress_counter;
  time_neighbours(links, {.channels = channels, .step_ends = step_ends, .message_size_bytes = 1}, {{&sample, 1}},
                  progress_counter);
  const std::size_t begin = links.calls.find("B|c") + 3, end = links.calls.find("cBc");
  EXPECT_EQ(begin, 3u) << links.calls;
  EXPECT_EQ(end + 3, links.calls.size()) << links.calls;
  return links.calls.substr(begin, end - begin);
}

std::string calls_of(const Channels& channels) { return calls_of(channels, one_step(channels)); }

// Four ranks; docs and names of the procedures as in NETTEST's description.

TEST(Star, TheCentreSendsToAllBeforeItReceivesFromAll) {
  EXPECT_EQ(calls_of({{1, both}, {2, both}, {3, both}}), "S1S2S3R1R2R3w");
}

TEST(Star, TheOthersReceiveAndAnswerBlocking) { EXPECT_EQ(calls_of({{0, answers}}), "r0s0"); }

TEST(Star2, AllSendBeforeTheyReceive) {
  EXPECT_EQ(calls_of({{1, both}, {2, both}, {3, both}}), "S1S2S3R1R2R3w");
  EXPECT_EQ(calls_of({{0, both}}), "S0R0w");
}

TEST(Chaos, StartsWithHigherRanksAndAnswersLowerOnesAsTheyCome) {
  EXPECT_EQ(calls_of({{1, both}, {2, both}, {3, both}}), "S1S2S3R1R2R3w");
  EXPECT_EQ(calls_of({{0, answers}, {2, both}, {3, both}}), "S2S3R0R2R3a3a2a0S0w");
  EXPECT_EQ(calls_of({{0, answers}, {1, answers}, {3, both}}), "S3R0R1R3a3a1S1a0S0w");
  EXPECT_EQ(calls_of({{0, answers}, {1, answers}, {2, answers}}), "R0R1R2a2S2a1S1a0S0w");
}

TEST(Chaos2, AllSendToAllBeforeTheyReceive) { EXPECT_EQ(calls_of({{0, both}, {2, both}, {3, both}}), "S0S2S3R0R2R3w"); }

TEST(Ring, GoesRoundOneWayAndThenBack) {
  EXPECT_EQ(calls_of({{2, sends}, {0, receives_only}, {2, receives_only}, {0, sends}}, {2, 4}), "S2R0wS0R2w");
}

TEST(Ring2, GoesRoundBothWaysAtOnce) { EXPECT_EQ(calls_of({{2, both}, {0, both}}), "S2S0R2R0w"); }

TEST(Neighbours, OfOneWayChannelsOnlyReceiveOrOnlySend) {
  EXPECT_EQ(calls_of({{1, sends}, {2, sends}}), "S1S2w");
  EXPECT_EQ(calls_of({{1, receives_only}}), "R1w");
}

TEST(Neighbours, AreServedStepByStep) {
  EXPECT_EQ(calls_of({{3, both}, {0, answers}, {2, both}, {1, answers}, {4, answers}}, {1, 2, 3, 5}),
            "S3R3w"
            "r0s0"
            "S2R2w"
            "R1R4a4S4a1S1w");
}

TEST(Neighbours, ThatShareTwoChannelsAreHeardFirstOnTheOneTheyStart) {
  EXPECT_EQ(calls_of({{1, both}, {1, answers}}), "S1R1R1a1a1S1w");
  const Channels channels{{1, both}, {1, answers}};
  RecordingNeighbours links{channels};
  post_step(links, channels, steps_of({.channels = channels, .step_ends = one_step(channels)}).front());
  EXPECT_EQ(links.posted, (std::vector<std::size_t>{1, 0}));
}

TEST(Neighbours, OfARankWithoutAnyAreBarriers) {
  RecordingNeighbours links;
  links.clock_step_ns = 0;
  std::array<ExchangeSample, 2> samples;
  ProgressCounter progress_counter;
  time_neighbours(links, {.num_warmup = 1}, {samples}, progress_counter);
  EXPECT_EQ(links.calls, "B|ccBcB|ccBcB|ccBc");
  for (const ExchangeSample& sample : samples) {
    EXPECT_EQ(sample.own_ns, 1u) << "0 would read as not measured";
    EXPECT_EQ(sample.with_barrier_ns, 1u);
  }
}

TEST(Neighbours, FillEverySampleAndBeatAfterEveryExchange) {
  const Channels channels{{1, both}};
  const StepEnds step_ends = one_step(channels);
  RecordingNeighbours links{channels};
  links.clock_step_ns = 10;
  std::array<ExchangeSample, 3> samples;
  ProgressCounter progress_counter;
  time_neighbours(links, {.channels = channels, .step_ends = step_ends, .num_warmup = 2}, {samples}, progress_counter);
  for (const ExchangeSample& sample : samples) {
    EXPECT_EQ(sample.own_ns, 10u);
    EXPECT_EQ(sample.with_barrier_ns, 20u);
  }
  EXPECT_EQ(progress_counter.count, 5u);
}

TEST(Neighbours, TellWhenEachStepOfTheLastExchangeWasDone) {
  const Channels channels{{1, both}, {2, sends}, {3, answers}};
  const StepEnds step_ends{1, 2, 3};
  RecordingNeighbours links{channels};
  links.clock_step_ns = 10;
  std::array<ExchangeSample, 2> samples;
  std::array<std::uint64_t, 3> step_ends_ns{7, 7, 7};
  ProgressCounter progress_counter;
  time_neighbours(links, {.channels = channels, .step_ends = step_ends, .num_warmup = 1}, {samples, step_ends_ns},
                  progress_counter);
  const std::string untold = "B|cS1R1wS2wr3s3cBc", told = "B|cS1R1wcS2wcr3s3ccBc";
  EXPECT_EQ(links.calls, untold + told + told);
  EXPECT_EQ(step_ends_ns, (std::array<std::uint64_t, 3>{10, 20, 30}));
  EXPECT_EQ(samples.back().own_ns, 40u);
}

TEST(Directions, AreTimedApartWithAllMessagesPostedAtOnce) {
  const Channels channels{{1, receives_only}, {1, receives_only}, {2, sends}, {2, sends}};
  const StepEnds step_ends = one_step(channels);
  RecordingNeighbours links{channels};
  links.clock_step_ns = 10;
  std::array<DirectionSample, 2> samples;
  ProgressCounter progress_counter;
  run_neighbours(links, {.channels = channels, .step_ends = step_ends, .num_warmup = 1}, 0, {},
                 TimedDirections{samples}, progress_counter);
  const std::string once = "B|cR1R1S2S2p1p1cp2p2cwB";
  EXPECT_EQ(links.calls, once + once + once);
  for (const DirectionSample& sample : samples) {
    EXPECT_EQ(sample.received_ns, 10u);
    EXPECT_EQ(sample.sent_ns, 20u);
  }
  EXPECT_EQ(progress_counter.count, 3u);
}

TEST(Directions, OfARankThatOnlySendsOrDoesNothing) {
  const Channels channels{{1, sends}};
  const StepEnds step_ends = one_step(channels);
  RecordingNeighbours links{channels};
  std::array<DirectionSample, 1> samples;
  ProgressCounter progress_counter;
  time_directions(links, {.channels = channels, .step_ends = step_ends}, {samples}, progress_counter);
  EXPECT_EQ(links.calls, "B|cS1p1cwB");
  EXPECT_EQ(samples[0].received_ns, 0u);
  RecordingNeighbours alone;
  time_directions(alone, {}, {samples}, progress_counter);
  EXPECT_EQ(alone.calls, "B|cwB");
}

TEST(Streams, PostTheNextMessageOfAChannelWhenTheOneBeforeIsDone) {
  const Channels channels{{1, sends}, {2, receives_only}};
  const StepEnds step_ends = one_step(channels);
  RecordingNeighbours links{channels};
  links.clock_step_ns = 10;
  std::array<std::uint64_t, 3> arrivals_ns{};
  ProgressCounter progress_counter;
  run_neighbours(links, {.channels = channels, .step_ends = step_ends}, 0, {}, TimedStreams{3, arrivals_ns},
                 progress_counter);
  EXPECT_EQ(links.calls,
            "B|c"
            "R2S1"
            "p2cR2p1S1"
            "p2cR2p1S1"
            "p2cp1"
            "wB");
  EXPECT_EQ(arrivals_ns, (std::array<std::uint64_t, 3>{10, 20, 30}));
  EXPECT_EQ(progress_counter.count, 1u);
}

TEST(Streams, HaveAnArrivalForEachMessageOfEachReceivingChannel) {
  const Channels channels{{1, receives_only}, {2, sends}, {3, receives_only}};
  const StepEnds step_ends = one_step(channels);
  RecordingNeighbours links{channels};
  std::array<std::uint64_t, 4> arrivals_ns{};
  ProgressCounter progress_counter;
  stream_neighbours(links, {.channels = channels, .step_ends = step_ends}, {2, arrivals_ns}, progress_counter);
  EXPECT_EQ(arrivals_ns, (std::array<std::uint64_t, 4>{1, 3, 2, 4}));
}

TEST(Streams, OfARankWithoutAnyAreBarriers) {
  RecordingNeighbours links;
  ProgressCounter progress_counter;
  stream_neighbours(links, {}, {3, {}}, progress_counter);
  EXPECT_EQ(links.calls, "B|cwB");
}

TEST(Streams, TakeAClockThatDoesNotMoveForTheLeastThatIsMeasured) {
  const Channels channels{{0, receives_only}};
  RecordingNeighbours links{channels};
  links.clock_step_ns = 0;
  std::uint64_t arrival_ns = 7;
  ProgressCounter progress_counter;
  stream_neighbours(links, {.channels = channels}, {1, {&arrival_ns, 1}}, progress_counter);
  EXPECT_EQ(arrival_ns, 1u);
}

TEST(Trace, ReadsTheClockForEveryMessageThatArrives) {
  const Channels channels{{1, both}, {2, sends}, {3, answers}, {2, receives_only}};
  const StepEnds step_ends{3, 4};
  RecordingNeighbours links{channels};
  links.clock_step_ns = 10;
  std::array<std::uint64_t, 4> arrivals_ns{7, 7, 7, 7};
  ProgressCounter progress_counter;
  trace_neighbours(links, {.channels = channels, .step_ends = step_ends}, arrivals_ns, progress_counter);
  EXPECT_EQ(links.calls, "B|cS1S2R3R1a1ca3cS3wR2a2cwB");
  EXPECT_EQ(arrivals_ns, (std::array<std::uint64_t, 4>{10, 7, 20, 30}));
  EXPECT_EQ(progress_counter.count, 1u);
}

TEST(Trace, TakesAClockThatDoesNotMoveForTheLeastThatIsMeasured) {
  const Channels channels{{0, answers}};
  const StepEnds step_ends{1};
  RecordingNeighbours links{channels};
  links.clock_step_ns = 0;
  std::uint64_t arrival_ns = 7;
  ProgressCounter progress_counter;
  trace_neighbours(links, {.channels = channels, .step_ends = step_ends}, {&arrival_ns, 1}, progress_counter);
  EXPECT_EQ(arrival_ns, 1u);
}

}  // namespace
}  // namespace leadline::kernel::neighbours_test
