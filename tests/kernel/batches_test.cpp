// SPDX-License-Identifier: Apache-2.0
// Messages spread over batches: none lost, as even as can be, the surplus first.
#include <gtest/gtest.h>

#include "kernel/loops.hpp"

namespace leadline::kernel {
namespace {

TEST(BatchMessages, AreAllThereAndEvenAndFallingForEverySmallCase) {
  for (std::uint64_t num_messages = 1; num_messages <= 40; ++num_messages) {
    for (std::size_t num_batches = 1; num_batches <= num_messages; ++num_batches) {
      std::uint64_t total = 0;
      for (std::size_t i = 0; i < num_batches; ++i) {
        const std::uint64_t num = batch_messages(num_messages, num_batches, i);
        total += num;
        EXPECT_GE(num, 1u);
        EXPECT_LE(batch_messages(num_messages, num_batches, 0) - num, 1u);
        EXPECT_LE(num, batch_messages(num_messages, num_batches, i > 0 ? i - 1 : 0));
      }
      EXPECT_EQ(total, num_messages);
    }
  }
}

}  // namespace
}  // namespace leadline::kernel
