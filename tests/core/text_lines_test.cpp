// SPDX-License-Identifier: Apache-2.0
// Lines, words and numbers of texts, and what is no text.
#include "core/text_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "support/folder.hpp"

namespace leadline::text_lines_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextLines, LinesHaveNoEnds) {
  EXPECT_THAT(lines_in("one\n\ntwo"), ElementsAre("one", "", "two"));
  EXPECT_THAT(lines_in("one\n"), ElementsAre("one"));
  EXPECT_THAT(lines_in(""), IsEmpty());
}

TEST(TextLines, WordsHaveNoBlanks) {
  EXPECT_THAT(words_in("\t a  bc\r"), ElementsAre("a", "bc"));
  EXPECT_THAT(words_in("  "), IsEmpty());
  EXPECT_EQ(trimmed("\t a  bc\r"), "a  bc");
  EXPECT_EQ(trimmed(" "), "");
}

TEST(TextLines, ANumberIsAllOfAWord) {
  EXPECT_EQ(number_in<std::uint64_t>("12"), 12u);
  EXPECT_EQ(number_in<double>("1.5"), 1.5);
  for (const char* const word : {"", "12x", "-1", "1.5"}) EXPECT_FALSE(number_in<std::uint64_t>(word)) << word;
}

TEST(TextLines, WhatIsNoTextIsEmpty) {
  const test::Folder folder;
  const std::string path = folder / "text";
  std::ofstream(path, std::ios::binary) << "a\nb";
  EXPECT_EQ(text_in_file(path), "a\nb");
  std::ofstream(path, std::ios::binary) << std::string("a\0b", 3);
  EXPECT_EQ(text_in_file(path), "");
  EXPECT_EQ(text_in_file(folder / "none"), "");
}

}  // namespace
}  // namespace leadline::text_lines_test
