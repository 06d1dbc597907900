// SPDX-License-Identifier: Apache-2.0
// How long is left until a deadline, in the milliseconds that poll takes.
#include "core/deadline.hpp"

#include <gtest/gtest.h>

namespace leadline {
namespace {

using namespace std::chrono_literals;

TEST(deadline, in_the_past_leaves_nothing) {
  const Deadline deadline = Deadline::after(-1s);
  EXPECT_TRUE(deadline.has_passed());
  EXPECT_EQ(deadline.left_ms(), 0);
}

TEST(deadline, rounds_up_so_that_nobody_spins_through_the_last_millisecond) {
  const Deadline deadline = Deadline::after(1h);
  EXPECT_FALSE(deadline.has_passed());
  EXPECT_GT(deadline.left_ms(), 3'590'000);
  EXPECT_LE(deadline.left_ms(), 3'600'000);
}

TEST(deadline, left_is_capped) {
  EXPECT_EQ(Deadline::after(1h).left_ms(250), 250);
  EXPECT_EQ(Deadline::after(1h).left(250us), 250us);
  EXPECT_EQ(Deadline::after(-1s).left(250us), 0us);
}

}  // namespace
}  // namespace leadline
