// SPDX-License-Identifier: Apache-2.0
// Work that dies, never ends or wants all memory, in a child process: no way to end early counts as success.
#include "result/subprocess.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include "core/error.hpp"

namespace leadline::result::subprocess_test {
namespace {

constexpr Allowance little{1, std::uint64_t{64} << 20};
constexpr std::size_t much_bytes = std::size_t{1} << 30;

/// Address space alone, so that sanitizers see nothing.
void take_much_memory() {
  void* place = ::mmap(nullptr, much_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  ::munmap(place, much_bytes);
}

TEST(Subprocess, WorkThatReturns) {
  EXPECT_EQ(probe_in_child([] {}, little), Ending::returned);
}

TEST(Subprocess, WorkThatThrows) {
  EXPECT_EQ(probe_in_child([] { throw std::runtime_error("no"); }, little), Ending::threw);
}

TEST(Subprocess, WorkThatDies) {
  EXPECT_EQ(probe_in_child([] { ::raise(SIGSEGV); }, little), Ending::died);
}

TEST(Subprocess, WorkThatALibraryEnds) {
  EXPECT_EQ(probe_in_child([] { ::_exit(3); }, little), Ending::died);
  EXPECT_EQ(probe_in_child([] { ::_exit(1); }, little), Ending::died);
}

std::string error_of(const std::function<void()>& work) {
  try {
    run_in_subprocess("cannot do it", "the child is gone", work);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    return error.what();
  }
}

TEST(Subprocess, ErrorsComeBack) {
  EXPECT_EQ(error_of([] {}), "");
  EXPECT_EQ(error_of([] { throw Error(ExitStatus::run_failed, "the problem", "why", "hint"); }),
            "the problem (why). hint");
  EXPECT_THAT(error_of([] { throw std::runtime_error("odd"); }), testing::HasSubstr("odd"));
  EXPECT_EQ(error_of([] { ::raise(SIGKILL); }), "cannot do it (the child is gone)");
  EXPECT_EQ(error_of([] { ::_exit(3); }), "cannot do it (the child is gone)");
}

TEST(Subprocess, WorkThatNeverEnds) {
  volatile bool goes_on = true;
  const auto work = [&] {
    while (goes_on) {
    }
  };
  EXPECT_EQ(probe_in_child(work, little), Ending::died);
}

TEST(Subprocess, WorkThatWantsMuchMemory) {
  EXPECT_EQ(probe_in_child(take_much_memory, {1, 2 * much_bytes}), Ending::returned);
  EXPECT_EQ(probe_in_child(take_much_memory, little), Ending::threw);
}

TEST(Subprocess, TheLimitOfMemoryEndsWithTheWork) {
  EXPECT_THROW(run_with_memory_limit(take_much_memory, little), std::bad_alloc);
  EXPECT_NO_THROW(take_much_memory());
  EXPECT_NO_THROW(run_with_memory_limit([] {}, little));
  EXPECT_NO_THROW(take_much_memory());
}

}  // namespace
}  // namespace leadline::result::subprocess_test
