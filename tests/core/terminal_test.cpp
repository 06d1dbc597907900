// SPDX-License-Identifier: Apache-2.0
// What is known of standard streams that are no terminals. Terminals: tests/program/test_terminal.py.
#include "core/terminal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace leadline {
namespace {

TEST(Terminal, APipeIsNone) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(is_redrawable(ends[1]));
  EXPECT_FALSE(takes_colours(ends[1]));
  EXPECT_EQ(terminal_width(ends[1]), usual_text_width);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace leadline
