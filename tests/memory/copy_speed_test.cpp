// SPDX-License-Identifier: Apache-2.0
// A copy of memory has a speed.
#include "memory/copy_speed.hpp"

#include <gtest/gtest.h>

namespace leadline::memory {
namespace {

TEST(copy_speed, is_that_of_a_machine) {
  constexpr double least_bytes_per_s = 1e6, most_bytes_per_s = 1e13;
  const double speed = copy_bytes_per_s();
  EXPECT_GT(speed, least_bytes_per_s);
  EXPECT_LT(speed, most_bytes_per_s);
}

}  // namespace
}  // namespace leadline::memory
