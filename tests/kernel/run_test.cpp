// SPDX-License-Identifier: Apache-2.0
// What a measurement does with its link, call by call: warm-up, batches, the clock around each and nothing else.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "kernel/loops.hpp"
#include "kernel/recording_link.hpp"

namespace leadline::kernel::run_test {
namespace {

struct Recorded {
  std::string calls;
  std::array<Sample, 2> samples;
  std::uint64_t beats;
};

Recorded record(const Exchange& exchange, Path path = Path::to_partner, std::uint64_t clock_step_ns = 1) {
  RecordingLink link;
  link.clock_step_ns = clock_step_ns;
  ProgressCounter progress_counter;
  Recorded recorded{};
  run(link, exchange, path, {}, recorded.samples, progress_counter);
  recorded.calls = link.calls;
  recorded.beats = progress_counter.count;
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

/// Which of the buffers, 0 to 9 each, a measurement sent from and received into, message by message.
struct Turns {
  std::string out, in;
};

Turns turns(const Exchange& exchange, std::uint32_t num_buffers, Path path = Path::to_partner) {
  constexpr std::size_t stride_bytes = 100;
  std::vector<std::byte> out(num_buffers * stride_bytes), in(num_buffers * stride_bytes);
  std::array<Sample, 2> samples;
  RecordingLink link;
  ProgressCounter progress_counter;
  run(link, exchange, path, {out.data(), in.data(), num_buffers, stride_bytes}, samples, progress_counter);
  Turns used;
  const auto index = [](const std::byte* data, const std::vector<std::byte>& all) {
    const auto offset = data - all.data();
    EXPECT_EQ(offset % static_cast<std::ptrdiff_t>(stride_bytes), 0);
    return static_cast<char>('0' + offset / static_cast<std::ptrdiff_t>(stride_bytes));
  };
  for (const std::byte* data : link.out) used.out += index(data, out);
  for (const std::byte* data : link.in) used.in += index(data, in);
  return used;
}

TEST(Run, TakesItsBuffersInTurnFromTheFirstWarmupMessageOn) {
  for (const Role role : {Role::lead, Role::follow}) {
    for (const Direction direction : {Direction::semidirectional, Direction::bidirectional}) {
      const Turns used = turns(exchange(direction, role), 4);
      EXPECT_EQ(used.out, "012301");
      EXPECT_EQ(used.in, "012301");
    }
  }
  EXPECT_EQ(turns(exchange(Direction::unidirectional, Role::lead), 4).out, "012301");
  EXPECT_EQ(turns(exchange(Direction::unidirectional, Role::lead), 4).in, "");
  EXPECT_EQ(turns(exchange(Direction::unidirectional, Role::follow), 4).in, "012301");
  EXPECT_EQ(turns(exchange(Direction::unidirectional, Role::follow), 4).out, "");
  for (const Direction direction : {Direction::semidirectional, Direction::unidirectional}) {
    const Turns looped = turns(exchange(direction, Role::lead), 4, Path::to_self);
    EXPECT_EQ(looped.out, "012301");
    EXPECT_EQ(looped.in, "012301");
  }
}

TEST(Run, WithFewerOrMoreBuffersThanMessages) {
  EXPECT_EQ(turns(exchange(Direction::semidirectional, Role::lead), 1).out, "000000");
  EXPECT_EQ(turns(exchange(Direction::semidirectional, Role::lead), 2).in, "010101");
  EXPECT_EQ(turns(exchange(Direction::bidirectional, Role::lead), 9).in, "012345");
}

TEST(Run, CallsTheSameWithSeveralBuffers) {
  RecordingLink link;
  ProgressCounter progress_counter;
  std::array<Sample, 2> samples;
  run(link, exchange(Direction::bidirectional, Role::lead), Path::to_partner, {nullptr, nullptr, 3, 0}, samples,
      progress_counter);
  EXPECT_EQ(link.calls, record(exchange(Direction::bidirectional, Role::lead)).calls);
}

TEST(NumInFlight, IsTheWindowOrAllMessages) {
  Exchange stream = exchange(Direction::unidirectional, Role::lead);
  EXPECT_EQ(num_in_flight(stream), 2u);
  stream.window = 64;
  EXPECT_EQ(num_in_flight(stream), 5u);
  stream.num_warmup = 10;
  EXPECT_EQ(num_in_flight(stream), 10u);
  stream.direction = Direction::semidirectional;
  EXPECT_EQ(num_in_flight(stream), 1u);
}

TEST(Run, AClockThatDoesNotMoveIsNotTakenForNotMeasured) {
  EXPECT_EQ(record(exchange(Direction::semidirectional, Role::lead), Path::to_partner, 0).samples[0].elapsed_ns, 1u);
}

}  // namespace
}  // namespace leadline::kernel::run_test
