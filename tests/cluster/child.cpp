// SPDX-License-Identifier: Apache-2.0
// What a child process says arrives whole, whatever bytes it has.
#include "cluster/child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

namespace leadline::cluster {
namespace {

TEST(Child, AnswersOfAnyLengthArriveWhole) {
  for (const std::size_t size : {0U, 1U, 503U, 504U, 505U, 511U, 512U, 513U, 100000U}) {
    for (const char letter : {'x', '\0'}) {
      const std::string said(size, letter);
      const ChildAnswer answer = ask_child([&] { return said; }, std::chrono::seconds(20));
      EXPECT_EQ(answer.text, said) << size;
    }
  }
}

TEST(Child, ThatEndsBeforeItHasAnsweredHasSaidNothing) {
  const ChildAnswer answer = ask_child([]() -> std::string { ::_exit(3); }, std::chrono::seconds(20));
  EXPECT_EQ(answer.text, std::nullopt);
  EXPECT_EQ(answer.why, "it ended with status 3");
}

}  // namespace
}  // namespace leadline::cluster
