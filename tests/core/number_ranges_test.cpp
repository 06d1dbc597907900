// SPDX-License-Identifier: Apache-2.0
// Lists of numbers in short.
#include "core/number_ranges.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace leadline {
namespace {

TEST(NumberRanges, DrawNeighboursTogether) {
  EXPECT_EQ(number_ranges(std::vector<int>{}), "");
  EXPECT_EQ(number_ranges(std::vector<int>{7}), "7");
  EXPECT_EQ(number_ranges(std::vector<int>{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(number_ranges(std::vector<int>{0, 2, 4}), "0,2,4");
  EXPECT_EQ(number_ranges(std::vector<int>{1, 2}), "1-2");
}

}  // namespace
}  // namespace leadline
