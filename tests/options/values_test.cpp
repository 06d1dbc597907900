// SPDX-License-Identifier: Apache-2.0
// Values of options: what is taken, and that what is refused names option, value and reason.
#include "options/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"

namespace leadline {
namespace {

using test::refusal_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseCount, TakesWholeNumbersInItsRange) {
  EXPECT_EQ(parse_count("--messages", "1", 1, 10), 1u);
  EXPECT_EQ(parse_count("--messages", "10", 1, 10), 10u);
  for (const char* text : {"", "0", "11", "-1", "+1", "1.5", "1e3", "ten", " 1", "1 ", "99999999999999999999999"}) {
    EXPECT_THAT(refusal_of([&] { parse_count("--messages", text, 1, 10); }),
                HasSubstr("--messages cannot be '" + std::string(text)));
  }
}

TEST(ParseSeconds, KnowsUnits) {
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "30", 1), 30);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "1.5s", 1), 1.5);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "2m", 1), 120);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "1h", 1), 3600);
  EXPECT_DOUBLE_EQ(parse_seconds("--min-time", "200ms", 0), 0.2);
  EXPECT_DOUBLE_EQ(parse_seconds("--interval", "50us", 0), 5e-5);
  for (const char* text : {"", "s", "0.5", "-3", "nan", "inf", "5 weeks", "1e300"}) {
    EXPECT_THAT(refusal_of([&] { parse_seconds("--timeout", text, 1); }), HasSubstr("--timeout"));
  }
}

TEST(ParseRounds, TakesListsAndRangesInTheirOrder) {
  EXPECT_THAT(parse_rounds("--rounds", "3,1,7-9"), ElementsAre(3, 1, 7, 8, 9));
  for (const char* text : {"", "0", "1,", ",1", "3-1", "a", "1-", "-1", "1-2-3", "1-99999999999"}) {
    EXPECT_THAT(refusal_of([&] { parse_rounds("--rounds", text); }), HasSubstr("--rounds"));
  }
}

TEST(ParseShare, KnowsPercent) {
  EXPECT_DOUBLE_EQ(parse_share("--precision", "1%", 0), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("--precision", "2.5 %", 0), 0.025);
  EXPECT_DOUBLE_EQ(parse_share("--precision", "0.25", 0), 0.25);
  EXPECT_EQ(parse_share("--precision", "0", 0), 0);
  EXPECT_EQ(parse_share("--precision", "100%", 0), 1);
  for (const char* text : {"", "%", "-1%", "100.1%", "2", "nan", "inf", "1%%", "1 in 10"}) {
    EXPECT_THAT(refusal_of([&] { parse_share("--precision", text, 0); }),
                HasSubstr("--precision cannot be '" + std::string(text)));
  }
  EXPECT_THAT(refusal_of([&] { parse_share("--threshold", "4%", 0.05); }), HasSubstr("from 5 % to 100 %"));
}

TEST(WordsOf, KeepsEmptyOnes) {
  EXPECT_THAT(words_of("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(words_of(",a,"), ElementsAre("", "a", ""));
  EXPECT_THAT(words_of(""), ElementsAre(""));
}

}  // namespace
}  // namespace leadline
