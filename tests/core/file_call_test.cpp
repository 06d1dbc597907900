// SPDX-License-Identifier: Apache-2.0
// What the watch reads of a file call.
#include "core/file_call.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "core/deadline.hpp"

namespace leadline {
namespace {

TEST(CurrentFileCall, TellsTheCallTheRangeAndTheFileWhileItLasts) {
  CurrentFileCall call;
  EXPECT_EQ(call.text(), "");
  EXPECT_EQ(call.kind(), FileCallKind::none);
  {
    const InFileCall in_call(call, "opening", "/scratch/f");
    EXPECT_EQ(call.kind(), FileCallKind::one_call);
    EXPECT_EQ(call.text(), "opening /scratch/f");
  }
  EXPECT_EQ(call.text(), "");
  const InFileCall in_call(call, "writing", FileRange{1 << 20, 1 << 16}, FileCallKind::many_calls);
  EXPECT_EQ(call.kind(), FileCallKind::many_calls);
  EXPECT_EQ(call.text(), "writing 64 KiB at 1048576 of /scratch/f");
  call.enter("reading", FileRange{0, 4096}, FileCallKind::one_call, now_ns() - 5'000'000'000);
  EXPECT_TRUE(call.text().starts_with("reading 4 KiB at 0 of /scratch/f since ")) << call.text();
}

/// What is told while a thread reads from there; skipped are kernels that tell nothing.
std::string told_while_reading(int from, int to) {
  CurrentFileCall call;
  std::thread measuring([&] {
    char byte = 0;
    const InFileCall in_call(call, "reading", "/scratch/f", {}, FileCallKind::joint_call);
    (void)!::read(from, &byte, 1);
  });
  const Deadline deadline = Deadline::after(std::chrono::seconds(10));
  const std::string read_call = std::to_string(SYS_read) + ' ';
  const auto is_reading = [&] { return call.system_call().starts_with(read_call); };
  while (!is_reading() && !deadline.has_passed()) std::this_thread::yield();
  const std::string told = is_reading() ? call.file_system_call() : "nothing";
  (void)!::write(to, "x", 1);
  measuring.join();
  return told;
}

TEST(CurrentFileCall, NamesASystemCallOnAFileAndNoOther) {
  const std::string path = testing::TempDir() + "leadline-file-call-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int named = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ::unlink(path.c_str());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string of_file = told_while_reading(named, named), of_pipe = told_while_reading(ends[0], ends[1]);
  for (const int fd : {named, ends[0], ends[1]}) ::close(fd);
  if (of_file == "nothing") GTEST_SKIP() << "the kernel does not show system calls";
  EXPECT_EQ(of_file, "read");
  EXPECT_EQ(of_pipe, "");
}

}  // namespace
}  // namespace leadline
