// SPDX-License-Identifier: Apache-2.0
// Which lines are coloured, and that nothing else changes.
#include "output/colours.hpp"

#include <gtest/gtest.h>

namespace leadline::output {
namespace {

TEST(Colours, AreForLinesThatTellHowItWent) {
  EXPECT_EQ(coloured("verdict: 1 fault found\n  1. host a is slow\n"),
            "\x1b[1;31mverdict: 1 fault found\x1b[0m\n  1. host a is slow\n");
  EXPECT_EQ(coloured("verdict: no fault found: nothing\n"), "\x1b[1;32mverdict: no fault found: nothing\x1b[0m\n");
  EXPECT_EQ(coloured("verdict: no fault found, but\n"), "\x1b[1;33mverdict: no fault found, but\x1b[0m\n");
  EXPECT_EQ(coloured("verdict: not worse: 0\n"), "\x1b[1;32mverdict: not worse: 0\x1b[0m\n");
  EXPECT_EQ(coloured("verdict: worse: 1\n"), "\x1b[1;31mverdict: worse: 1\x1b[0m\n");
}

TEST(Colours, AreForTheAnswerOfACheckAndItsFindings) {
  EXPECT_EQ(coloured("BAD  8 ranks\n same host  1 us\n 1  host a  x3\n12  odd\n !  old\n ?  b\n drain: a\n"),
            "\x1b[1;31mBAD\x1b[0m  8 ranks\n same host  1 us\n\x1b[1;31m 1  host a  x3\x1b[0m\n12  odd\n"
            "\x1b[1;33m !  old\x1b[0m\n\x1b[1;33m ?  b\x1b[0m\n\x1b[1;31m drain: a\x1b[0m\n");
  EXPECT_EQ(coloured("GOOD  8 ranks\n"), "\x1b[1;32mGOOD\x1b[0m  8 ranks\n");
  EXPECT_EQ(coloured("UNTESTED  2 ranks\n"), "\x1b[1;33mUNTESTED\x1b[0m  2 ranks\n");
  for (const char* text : {"BADLY  8 ranks\n 1  host a\n", "a\nBAD  8 ranks\n drain: a\n", " 1  host a\n"}) {
    EXPECT_EQ(coloured(text), text);
  }
}

TEST(Colours, LeaveAllElseAsItIs) {
  for (const char* text : {"", "\n", "a", "a\n\nb", " verdict: 1\n", "note: warning: no\n", "{\"a\": 1}\n\n"}) {
    EXPECT_EQ(coloured(text), text);
  }
}

}  // namespace
}  // namespace leadline::output
