// SPDX-License-Identifier: Apache-2.0
// What a measurement does with its link, call by call: warm-up, batches, the clock around each and nothing else.
#include "kernel/run.hpp"

#include <gtest/gtest.h>

#include <array>

#include "kernel/recording_link.hpp"

namespace leadline::kernel {
namespace {

struct Recorded {
  std::string calls;
  std::array<Sample, 2> samples;
  std::uint64_t beats;
};

Recorded record(const Exchange& exchange, Path path = Path::to_partner, std::uint64_t clock_step_ns = 1) {
  RecordingLink link;
  link.clock_step_ns = clock_step_ns;
  Pulse pulse;
  Recorded recorded{};
  run(link, exchange, path, {}, recorded.samples, pulse);
  recorded.calls = link.calls;
  recorded.beats = pulse.beats;
  return recorded;
}

Exchange exchange(Direction direction, Role role) {
  return {
      .direction = direction, .role = role, .message_size_bytes = 8, .num_messages = 5, .num_warmup = 1, .window = 2};
}

TEST(Run, PingPong) {
  EXPECT_EQ(record(exchange(Direction::semidirectional, Role::lead)).calls,
            "sr"
            "csrsrsrc"
            "csrsrc");
  EXPECT_EQ(record(exchange(Direction::semidirectional, Role::follow)).calls,
            "rs"
            "rsrsrs"
            "rsrs");
}

TEST(Run, StreamInWindowsWithOneReceiptABatch) {
  EXPECT_EQ(record(exchange(Direction::unidirectional, Role::lead)).calls,
            "SwA"
            "cSSwSwAc"
            "cSSwAc");
  EXPECT_EQ(record(exchange(Direction::unidirectional, Role::follow)).calls,
            "Rwa"
            "RRwRwa"
            "RRwa");
}

TEST(Run, BothWaysBothSidesTime) {
  const std::string calls =
      "RSw"
      "cRRSSwRSwc"
      "cRRSSwc";
  EXPECT_EQ(record(exchange(Direction::bidirectional, Role::lead)).calls, calls);
  EXPECT_EQ(record(exchange(Direction::bidirectional, Role::follow)).calls, calls);
}

TEST(Run, LoopToItselfKeepsOneInFlightUnlessThereIsAWindow) {
  EXPECT_EQ(record(exchange(Direction::semidirectional, Role::lead), Path::to_self).calls,
            "RSw"
            "cRSwRSwRSwc"
            "cRSwRSwc");
  EXPECT_EQ(record(exchange(Direction::unidirectional, Role::lead), Path::to_self).calls,
            "RSw"
            "cRRSSwRSwc"
            "cRRSSwc");
}

TEST(Run, WithoutWarmupStartsWithTheClock) {
  Exchange cold = exchange(Direction::unidirectional, Role::lead);
  cold.num_warmup = 0;
  EXPECT_EQ(record(cold).calls.front(), 'c');
}

TEST(Run, FillsTheLeadersSamplesAndBeatsOnceABatch) {
  const Recorded lead = record(exchange(Direction::semidirectional, Role::lead), Path::to_partner, 7);
  EXPECT_EQ(lead.samples[0].num_messages, 3u);
  EXPECT_EQ(lead.samples[1].num_messages, 2u);
  EXPECT_EQ(lead.samples[0].elapsed_ns, 7u);
  EXPECT_EQ(lead.beats, 2u);

  const Recorded follow = record(exchange(Direction::semidirectional, Role::follow));
  EXPECT_EQ(follow.samples[0].num_messages, 0u);
  EXPECT_EQ(follow.samples[0].elapsed_ns, 0u);
  EXPECT_EQ(follow.beats, 2u);
}

TEST(Run, AClockThatDoesNotMoveIsNotTakenForNotMeasured) {
  EXPECT_EQ(record(exchange(Direction::semidirectional, Role::lead), Path::to_partner, 0).samples[0].elapsed_ns, 1u);
}

}  // namespace
}  // namespace leadline::kernel
