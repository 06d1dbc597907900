// SPDX-License-Identifier: Apache-2.0
// Tables line up, and numbers for people read well.
#include "output/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace leadline::output {
namespace {

TEST(Table, AlignsByTheWidestCell) {
  Table table({{"name", Align::left}, {"us", Align::right}, {"end", Align::left}});
  table.add_row({"a", "1.500", "x"});
  table.add_row({"longer", "12.000"});
  EXPECT_EQ(table.text("  "),
            "  name        us  end\n"
            "  a        1.500  x\n"
            "  longer  12.000\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"host", Align::left}, {"n"}});
  table.add_row({"k\xc3\xb6ln", "1"});
  table.add_row({"bonn", "2"});
  EXPECT_EQ(table.text(""), "host  n\nk\xc3\xb6ln  1\nbonn  2\n");
}

TEST(Numbers, AreInTheUnitOfTheirColumn) {
  EXPECT_EQ(in_unit(1234.5, time_unit(2000)), "1.234");
  EXPECT_EQ(in_unit(NAN, time_unit(2000)), "-");
  EXPECT_EQ(in_unit(INFINITY, time_unit(2000)), "-");
}

TEST(Durations, ChangeTheirUnitsAsTheyGrow) {
  EXPECT_EQ(format_duration(0), "0.00 s");
  EXPECT_EQ(format_duration(9.99), "9.99 s");
  EXPECT_EQ(format_duration(9.999), "10.0 s");
  EXPECT_EQ(format_duration(99.96), "1 min 40 s");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(3599.7), "1 h 00 min");
  EXPECT_EQ(format_duration(7500), "2 h 05 min");
  EXPECT_EQ(format_duration(NAN), "-");
}

TEST(Counted, HasAPlural) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
}

}  // namespace
}  // namespace leadline::output
