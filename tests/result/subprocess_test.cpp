// SPDX-License-Identifier: Apache-2.0
// Work in a child process: its errors come back, and no way in which the child ends early counts as success.
#include "result/subprocess.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>

#include "core/error.hpp"

namespace leadline::result::subprocess_test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t most_work_s = 5;

void end_with_a_status() { ::_exit(3); }
void die() { ::raise(SIGKILL); }

std::string error_of(const std::function<void()>& work) {
  try {
    run_in_subprocess("cannot do it", "the child is gone", work);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    return error.what();
  }
}

TEST(Subprocess, WorkThatEndsIsFine) {
  EXPECT_EQ(error_of([] {}), "");
  EXPECT_TRUE(probe_in_child([] {}, most_work_s));
}

TEST(Subprocess, ItsErrorsComeBack) {
  const auto fail = [] { throw Error(ExitStatus::run_failed, "the problem", "why", "hint"); };
  EXPECT_EQ(error_of(fail), "the problem (why). hint");
  EXPECT_THAT(error_of([] { throw std::runtime_error("odd"); }), HasSubstr("odd"));
  EXPECT_TRUE(probe_in_child(fail, most_work_s));
}

TEST(Subprocess, AChildThatIsKilledHasFailed) {
  EXPECT_EQ(error_of(die), "cannot do it (the child is gone)");
  EXPECT_FALSE(probe_in_child(die, most_work_s));
}

TEST(Subprocess, AChildThatALibraryEndsHasFailed) {
  EXPECT_EQ(error_of(end_with_a_status), "cannot do it (the child is gone)");
  EXPECT_FALSE(probe_in_child(end_with_a_status, most_work_s));
}

}  // namespace
}  // namespace leadline::result::subprocess_test
