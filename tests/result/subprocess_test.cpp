// SPDX-License-Identifier: Apache-2.0
// Work that dies, never ends or wants all memory, in a child process.
#include "result/subprocess.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <csignal>
#include <cstddef>
#include <new>
#include <stdexcept>

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
