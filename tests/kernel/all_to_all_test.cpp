// SPDX-License-Identifier: Apache-2.0
// An exchange with many partners, call by call: steps in order, rests left out, the clock around the whole.
#include "kernel/all_to_all.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "kernel/recording_link.hpp"

namespace leadline::kernel::all_to_all_test {
namespace {

constexpr std::int32_t rests = AllToAllSteps::rests;

/// Hands out links that write into one record: the partner's digit before the calls, | where an exchange starts.
struct RecordingLinks {
  std::span<const std::int32_t> partners;
  RecordingLink record;
  std::uint64_t clock_step_ns = 5;

  struct Reference {
    RecordingLink& record;
    void send(const std::byte* data, std::size_t size) { record.send(data, size); }
    void receive(std::byte* data, std::size_t size) { record.receive(data, size); }
    void post_send(const std::byte* data, std::size_t size) { record.post_send(data, size); }
    void post_receive(std::byte* data, std::size_t size) { record.post_receive(data, size); }
    void complete_posted() { record.complete_posted(); }
    void send_receipt() { record.send_receipt(); }
    void await_receipt() { record.await_receipt(); }
    std::uint64_t now_ns() { return record.now_ns(); }
  };

  void start() { record.calls += '|'; }
  Reference at(std::size_t step) {
    record.calls += std::to_string(partners[step]);
    return {record};
  }
  std::uint64_t now_ns() {
    record.clock_step_ns = clock_step_ns;
    return record.now_ns();
  }
};

struct Recorded {
  RecordingLink link;
  std::array<Sample, 2> samples;
  std::uint64_t beats;
};

Recorded record(const std::vector<std::int32_t>& partners, const Buffers& buffers = {},
                std::uint64_t clock_step_ns = 5) {
  RecordingLinks links{partners, {}, clock_step_ns};
  Recorded recorded{};
  ProgressCounter progress_counter;
  all_to_all(links, {partners, 8}, buffers, recorded.samples, progress_counter);
  recorded.link = links.record;
  recorded.beats = progress_counter.count;
  return recorded;
}

TEST(AllToAll, OneMessageEachWayWithPartnerAfterPartnerOnceUntimedAndOnceASample) {
  EXPECT_EQ(record({3, rests, 1}).link.calls,
            "|3RSw1RSw"
            "|c3RSw1RSwc"
            "|c3RSw1RSwc");
}

TEST(AllToAll, FillsEverySampleAndBeatsAfterEveryMessage) {
  const Recorded recorded = record({3, rests, 1, 2});
  for (const Sample& sample : recorded.samples) {
    EXPECT_EQ(sample.elapsed_ns, 5u);
    EXPECT_EQ(sample.num_messages, 3u);
  }
  EXPECT_EQ(recorded.beats, 9u);
}

TEST(AllToAll, OfARankThatOnlyRests) {
  const Recorded recorded = record({rests, rests}, {}, 0);
  EXPECT_EQ(recorded.link.calls, "||cc|cc");
  EXPECT_EQ(recorded.samples[0].elapsed_ns, 1u) << "0 would read as not measured";
  EXPECT_EQ(recorded.samples[0].num_messages, 0u);
}

TEST(AllToAll, TakesItsBuffersInTurnOnThroughAllExchanges) {
  std::array<std::byte, 30> out{}, in{};
  const Recorded recorded = record({0, 1}, {out.data(), in.data(), 3, 10});
  std::string sent, received;
  for (const std::byte* data : recorded.link.out) sent += std::to_string((data - out.data()) / 10);
  for (const std::byte* data : recorded.link.in) received += std::to_string((data - in.data()) / 10);
  EXPECT_EQ(sent, "012012");
  EXPECT_EQ(received, "012012");
}

}  // namespace
}  // namespace leadline::kernel::all_to_all_test
