// SPDX-License-Identifier: Apache-2.0
// What a terminal would obey, or show in another order, is replaced; letters of all languages stay.
#include "core/printable.hpp"

#include <gtest/gtest.h>

namespace leadline {
namespace {

std::string in_one_line(std::string_view text) { return printable(text, LineEnds::replaced); }

TEST(printable, replaces_control_characters) {
  EXPECT_EQ(in_one_line("a\x1b[31m\x7f\x01"), "a?[31m??");
  EXPECT_EQ(in_one_line("a\xc2\x80"
                        "b\xc2\x9f"
                        "c"),
            "a?b?c");
  EXPECT_EQ(printable("a\x1b[31m", LineEnds::kept, ' '), "a [31m");
}

TEST(printable, replaces_ends_of_lines_unless_they_are_wanted) {
  EXPECT_EQ(in_one_line("a\nb\tc\rd"), "a?b?c?d");
  EXPECT_EQ(printable("a\nb\tc\rd", LineEnds::kept), "a\nb\tc?d");
  EXPECT_EQ(printable("a\u2028b\u2029c", LineEnds::kept), "a?b?c");
}

TEST(printable, replaces_marks_of_direction) {
  EXPECT_EQ(in_one_line("\u061c1\u200e2\u200f3\u202a4\u202e5\u20666\u20697"), "?1?2?3?4?5?6?7");
}

TEST(printable, keeps_letters_and_bytes_that_are_no_text) {
  for (const char* text :
       {"", "node1", "n\u00f6de\u00a0\u20ac\u200d\u2030\u2065\u206a", "\u05d0\u0631", "\xff\xe2", "\xe2\x80", "\xc2"}) {
    EXPECT_EQ(in_one_line(text), text);
  }
}

}  // namespace
}  // namespace leadline
