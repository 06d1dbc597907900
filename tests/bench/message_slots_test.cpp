// SPDX-License-Identifier: Apache-2.0
// Slots of a rank: side by side, each large enough, with contents that differ.
#include <gtest/gtest.h>

#include <cstring>

#include "bench/message_memory.hpp"
#include "core/error.hpp"

namespace leadline::bench {
namespace {

RunRequest request_of(Fill fill) {
  RunRequest request;
  request.message_sizes_bytes = {16, 5000, 300};
  request.fill = fill;
  request.fill_seed = 7;
  return request;
}

TEST(MessageSlots, AreLargeEnoughForEveryMessage) {
  const MessageSlots slots(request_of(Fill::zero), 3, 0);
  const kernel::NeighbourBuffers buffers = slots.all();
  EXPECT_EQ(slots.num(), 3u);
  EXPECT_EQ(buffers.stride_bytes, 8192u);
  std::memset(buffers.send + 2 * buffers.stride_bytes, 1, 5000);  // the sanitizer would say so
  std::memset(buffers.receive + 2 * buffers.stride_bytes, 1, 5000);
}

TEST(MessageSlots, OneAloneIsNoLargerThanTheLargestMessage) {
  EXPECT_EQ(MessageSlots(request_of(Fill::zero), 1, 0).all().stride_bytes, 5000u);
}

TEST(MessageSlots, HoldThePatternOfRankSlotAndSeed) {
  for (const Fill fill : {Fill::ramp, Fill::random, Fill::mersenne}) {
    const MessageSlots slots(request_of(fill), 2, 5);
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      const std::span<const std::byte> contents(slots.all().send + slot * slots.all().stride_bytes, 5000);
      EXPECT_FALSE(memory::first_wrong_byte(contents, fill, {5, 5, slot, 7}));
      EXPECT_TRUE(memory::first_wrong_byte(contents, fill, {5, 5, slot + 1, 7}));
    }
  }
}

TEST(MessageSlots, NoneAreNeededWithoutChannels) {
  const MessageSlots slots(request_of(Fill::ramp), 0, 0);
  EXPECT_EQ(slots.num(), 0u);
  EXPECT_EQ(slots.all().send, nullptr);
}

TEST(MessageSlots, ComeFromTheAllocatorThatIsAskedFor) {
  RunRequest request = request_of(Fill::ramp);
  request.allocator = "nowhere";
  EXPECT_THROW(MessageSlots(request, 1, 0), Error);
}

}  // namespace
}  // namespace leadline::bench
