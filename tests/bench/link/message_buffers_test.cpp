// SPDX-License-Identifier: Apache-2.0
// Buffers of a rank: side by side, with contents that every other rank can tell, and the first byte that is wrong.
#include "bench/link/message_buffers.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace leadline::bench::link {
namespace {

LinkRequest request_of(std::uint32_t num_buffers, Fill fill) {
  LinkRequest request;
  request.message_sizes_bytes = {16, 5000};
  request.num_buffers = num_buffers;
  request.fill = fill;
  request.fill_seed = 77;
  return request;
}

/// What a partner's messages leave behind, had it sent one out of each of its buffers.
void deliver(const MessageBuffers& from, const MessageBuffers& to, std::size_t size_bytes) {
  const kernel::Buffers sent = from.all(), received = to.all();
  for (std::uint32_t i = 0; i < sent.num; ++i) {
    std::memcpy(received.receive + i * received.stride_bytes, sent.send + i * sent.stride_bytes, size_bytes);
  }
}

class EveryFill : public testing::TestWithParam<Fill> {};

TEST_P(EveryFill, ArrivesAsThePartnerSentIt) {
  const LinkRequest request = request_of(3, GetParam());
  const MessageBuffers partner(request, 4);
  MessageBuffers own(request, 1);
  own.wipe_received(5000);
  deliver(partner, own, 5000);
  EXPECT_FALSE(own.first_wrong_byte(4, 5000, 10));
}

TEST_P(EveryFill, ThatNeverCameIsFound) {
  const LinkRequest request = request_of(3, GetParam());
  MessageBuffers own(request, 1);
  own.wipe_received(16);
  const auto wrong = own.first_wrong_byte(4, 16, 10);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->buffer, 0u);
}

INSTANTIATE_TEST_SUITE_P(MessageBuffers, EveryFill,
                         testing::Values(Fill::zero, Fill::ramp, Fill::random, Fill::mersenne));

TEST(MessageBuffers, NameTheBufferAndTheByte) {
  const LinkRequest request = request_of(3, Fill::mersenne);
  const MessageBuffers partner(request, 4);
  MessageBuffers own(request, 1);
  deliver(partner, own, 5000);
  const kernel::Buffers buffers = own.all();
  buffers.receive[2 * buffers.stride_bytes + 4999] ^= std::byte{1};
  const auto wrong = own.first_wrong_byte(4, 5000, 3);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->buffer, 2u);
  EXPECT_EQ(wrong->byte.byte, 4999u);
  EXPECT_NE(wrong->byte.expected, wrong->byte.found);
}

TEST(MessageBuffers, ThatNoMessageReachedAreNotLookedAt) {
  const LinkRequest request = request_of(8, Fill::ramp);
  const MessageBuffers partner(request, 4);
  MessageBuffers own(request, 1);
  deliver(partner, own, 16);
  const kernel::Buffers buffers = own.all();
  buffers.receive[5 * buffers.stride_bytes] ^= std::byte{1};
  EXPECT_EQ(own.num_reached(5), 5u);
  EXPECT_FALSE(own.first_wrong_byte(4, 16, 5));
  EXPECT_TRUE(own.first_wrong_byte(4, 16, 6));
}

TEST(MessageBuffers, OfOneRankDifferFromEachOtherAndFromThoseOfOthers) {
  const LinkRequest request = request_of(2, Fill::random);
  const MessageBuffers one(request, 1), other(request, 2);
  const kernel::Buffers a = one.all(), b = other.all();
  EXPECT_NE(std::memcmp(a.send, a.send + a.stride_bytes, 16), 0);
  EXPECT_NE(std::memcmp(a.send, b.send, 16), 0);
}

TEST(MessageBuffers, HoldTheLargestMessageOfAll) {
  LinkRequest request = request_of(1, Fill::zero);
  request.all_to_all_size_bytes = 100'000;
  MessageBuffers own(request, 0);
  own.wipe_received(100'000);  // the sanitizer would say so
  EXPECT_EQ(own.all().num, 1u);
}

TEST(MessageBuffers, GetTheirContentsBack) {
  const LinkRequest request = request_of(1, Fill::ramp);
  MessageBuffers partner(request, 4), own(request, 1);
  std::memset(partner.all().send, 0, 5000);
  partner.fill_sent();
  deliver(partner, own, 5000);
  EXPECT_FALSE(own.first_wrong_byte(4, 5000, 1));
}

}  // namespace
}  // namespace leadline::bench::link
