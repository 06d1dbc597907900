// SPDX-License-Identifier: Apache-2.0
// Published test vectors of the generators, and shuffles that are fair and repeatable.
#include "core/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace leadline {
namespace {

using testing::ElementsAre;

// The vector that circulates with splitmix64 (seed 1234567).
TEST(random, mix64_gives_the_outputs_of_splitmix64) {
  constexpr std::uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u, 16408922859458223821u};
  std::uint64_t n = 0;
  for (const std::uint64_t output : expected) EXPECT_EQ(mix64(1234567 + ++n * splitmix64_increment), output);
}

// First outputs of the reference implementation from the state 1, 2, 3, 4.
TEST(random, gives_the_outputs_of_xoshiro256starstar) {
  Random random(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  for (const std::uint64_t output :
       {std::uint64_t{11520}, std::uint64_t{0}, std::uint64_t{1509978240}, std::uint64_t{1215971899390074240},
        std::uint64_t{1216172134540287360}, std::uint64_t{607988272756665600}, std::uint64_t{16172922978634559625u},
        std::uint64_t{8476171486693032832}, std::uint64_t{10595114339597558777u}, std::uint64_t{2904607092377533576}}) {
    EXPECT_EQ(random.next(), output);
  }
}

// Our own seeding; a change here changes every recorded schedule.
TEST(random, seed_and_stream_decide_the_numbers) {
  Random random(1, 2);
  EXPECT_EQ(random.next(), 1616373938809070510u);
  EXPECT_EQ(random.next(), 9013835436248551033u);
  EXPECT_EQ(Random(1, 2).next(), Random(1, 2).next());
  EXPECT_NE(Random(1, 2).next(), Random(2, 2).next());
  EXPECT_NE(Random(1, 2).next(), Random(1, 3).next());
  EXPECT_NE(Random(1, 2).next(), Random(2, 1).next());
}

TEST(random, below_stays_below_and_reaches_all) {
  Random random(7);
  for (std::uint64_t bound = 1; bound <= 10; ++bound) {
    std::map<std::uint64_t, int> seen;
    for (int i = 0; i < 500; ++i) ++seen[random.below(bound)];
    EXPECT_EQ(seen.size(), bound);
    EXPECT_LT(seen.rbegin()->first, bound);
  }
  EXPECT_LT(random.below(UINT64_MAX), UINT64_MAX);
}

// With a bound of 3/4 of the range a plain modulo would make the lower third twice as likely.
TEST(random, below_is_unbiased_for_large_bounds) {
  Random random(7);
  constexpr std::uint64_t bound = std::uint64_t{3} << 62;
  int in_lowest_third = 0;
  for (int i = 0; i < 3000; ++i) in_lowest_third += random.below(bound) < bound / 3 ? 1 : 0;
  EXPECT_NEAR(in_lowest_third, 1000, 130);  // five standard deviations
}

TEST(random, uniform_lies_in_the_half_open_unit_interval) {
  Random random(7);
  double sum = 0;
  for (int i = 0; i < 3000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 3000, 0.5, 0.03);
}

TEST(random, shuffle_of_nothing_and_of_one) {
  Random random(7);
  random.shuffle(std::span<std::int32_t>{});
  std::vector<std::int32_t> one{5};
  random.shuffle(one);
  EXPECT_THAT(one, ElementsAre(5));
}

TEST(random, shuffle_is_the_same_for_both_widths_and_keeps_all_values) {
  std::vector<std::int32_t> narrow(20);
  std::iota(narrow.begin(), narrow.end(), 0);
  std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
  Random(3).shuffle(narrow);
  Random(3).shuffle(wide);
  EXPECT_TRUE(std::equal(narrow.begin(), narrow.end(), wide.begin()));
  EXPECT_FALSE(std::is_sorted(narrow.begin(), narrow.end()));
  std::sort(narrow.begin(), narrow.end());
  for (std::int32_t i = 0; i < 20; ++i) EXPECT_EQ(narrow[static_cast<std::size_t>(i)], i);
}

TEST(random, shuffle_makes_every_order_equally_likely) {
  std::map<std::vector<std::int32_t>, int> seen;
  Random random(11);
  for (int i = 0; i < 6000; ++i) {
    std::vector<std::int32_t> values{0, 1, 2};
    random.shuffle(values);
    ++seen[values];
  }
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150);  // five standard deviations
}

}  // namespace
}  // namespace leadline
