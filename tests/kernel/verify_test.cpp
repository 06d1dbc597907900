// SPDX-License-Identifier: Apache-2.0
// The verification pass over links that damage, lose or repeat messages.
#include "kernel/verify.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "kernel/recording_link.hpp"

namespace leadline::kernel::verify_test {
namespace {

/// Hands every message of size `size` to itself, or what `damage` makes of it.
struct DamagingLink : RecordingLink {
  std::function<void(std::uint64_t message, std::byte* data)> deliver;
  std::vector<std::vector<std::byte>> sent;
  std::byte* in = nullptr;

  void post_receive(std::byte* data, std::size_t) { in = data; }
  void post_send(const std::byte* data, std::size_t size) { sent.emplace_back(data, data + size); }
  void complete_posted() {
    const std::uint64_t message = sent.size() - 1;
    if (deliver) return deliver(message, in);
    std::memcpy(in, sent.back().data(), sent.back().size());
  }
};

constexpr std::size_t size = 1000;

std::optional<Mismatch> verify_over(DamagingLink& link, Fill fill) {
  std::vector<std::byte> out(size), in(size);
  ProgressCounter progress_counter;
  const auto mismatch = verify(link, {.message_size_bytes = size, .num_messages = 10}, {3, 3}, {out.data(), in.data()},
                               fill, progress_counter);
  EXPECT_EQ(link.sent.size(), 10u) << "both ends must stay in step";
  EXPECT_EQ(progress_counter.count, 10u);
  return mismatch;
}

TEST(Verify, FindsNothingWhereNothingIsWrong) {
  for (const Fill fill : {Fill::zero, Fill::ramp, Fill::random, Fill::mersenne}) {
    DamagingLink link;
    EXPECT_FALSE(verify_over(link, fill));
  }
}

TEST(Verify, SaysWhichByteOfWhichMessageIsWrongFirst) {
  DamagingLink link;
  link.deliver = [&](std::uint64_t message, std::byte* data) {
    std::memcpy(data, link.sent[message].data(), size);
    if (message >= 4) data[700 - message] ^= std::byte{0x10};
    if (message >= 4) data[900] ^= std::byte{0x10};
  };
  const auto mismatch = verify_over(link, Fill::random);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->message, 4u);
  EXPECT_EQ(mismatch->byte, 696u);
  EXPECT_EQ(mismatch->expected ^ mismatch->found, 0x10);
}

TEST(Verify, NoticesAMessageThatNeverCame) {
  for (const Fill fill : {Fill::zero, Fill::ramp, Fill::random, Fill::mersenne}) {
    DamagingLink link;
    link.deliver = [&](std::uint64_t message, std::byte* data) {
      if (message != 2) std::memcpy(data, link.sent[message].data(), size);
    };
    const auto mismatch = verify_over(link, fill);
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->message, 2u);
  }
}

TEST(Verify, NoticesTheMessageBefore) {
  DamagingLink link;
  link.deliver = [&](std::uint64_t message, std::byte* data) {
    std::memcpy(data, link.sent[message == 5 ? 4 : message].data(), size);
  };
  const auto mismatch = verify_over(link, Fill::ramp);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->message, 5u);
}

TEST(Verify, SenderSendsAndReceiverReceives) {
  std::vector<std::byte> out(size), in(size);
  ProgressCounter progress_counter;
  RecordingLink lead, follow;
  const Exchange exchange{.message_size_bytes = size, .num_messages = 3};
  EXPECT_FALSE(verify(lead, exchange, {0, 1}, {out.data(), in.data()}, Fill::ramp, progress_counter));
  EXPECT_EQ(lead.calls, "sss");
  Exchange other = exchange;
  other.role = Role::follow;
  EXPECT_TRUE(verify(follow, other, {0, 1}, {out.data(), in.data()}, Fill::ramp, progress_counter));
  EXPECT_EQ(follow.calls, "rrr");
}

}  // namespace
}  // namespace leadline::kernel::verify_test
