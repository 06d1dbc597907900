// SPDX-License-Identifier: Apache-2.0
// The grammar of error messages.
#include "core/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>
#include <vector>

namespace leadline {
namespace {

TEST(error, composes_problem_why_and_hint) {
  const Error error(ExitStatus::something_missing, "cannot open x", "no such file", "Make it first");
  EXPECT_STREQ(error.what(), "cannot open x (no such file). Make it first");
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_EQ(error.problem(), "cannot open x");
  EXPECT_EQ(error.why(), "no such file");
  EXPECT_EQ(error.hint(), "Make it first");
}

TEST(error, leaves_out_what_is_not_known) {
  EXPECT_STREQ(Error(ExitStatus::run_failed, "it broke").what(), "it broke");
  EXPECT_STREQ(Error(ExitStatus::run_failed, "it broke", "old age").what(), "it broke (old age)");
  EXPECT_STREQ(Error(ExitStatus::run_failed, "it broke", "", "Repair it").what(), "it broke. Repair it");
}

TEST(error, is_one_line_whatever_is_in_its_parts) {
  EXPECT_STREQ(Error(ExitStatus::bad_command_line, "no\nsuch\033[1m option", "a\r\nb").what(),
               "no such [1m option (a  b)");
  EXPECT_STREQ(Error(ExitStatus::bad_command_line, "a\xc2\x9b\x33m b \xc3\x9f \xc2\xa0 c\xc2").what(),
               "a 3m b \xc3\x9f \xc2\xa0 c\xc2");
}

TEST(error, system_text_names_the_error) {
  EXPECT_EQ(system_error_text(ENOSPC), "No space left on device");
  EXPECT_NE(system_error_text(123456).find("123456"), std::string::npos);
}

TEST(error, system_text_is_right_in_every_thread) {
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&texts, i] {
      for (int repeat = 0; repeat < 100; ++repeat) texts[i] = system_error_text(i % 2 == 0 ? ENOENT : EACCES);
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts[i], i % 2 == 0 ? "No such file or directory" : "Permission denied");
  }
}

}  // namespace
}  // namespace leadline
