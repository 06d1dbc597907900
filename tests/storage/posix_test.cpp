// SPDX-License-Identifier: Apache-2.0
// What only the POSIX backend promises: direct calls are direct, uncached ones leave nothing, a wait ends in time,
// queued calls are done in any order.
#include "storage/posix/posix.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/child.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "storage/page_cache.hpp"
#include "support/folder.hpp"
#include "support/refusal.hpp"

namespace leadline::storage {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t block_bytes = 65536;

class Posix : public testing::Test {
 protected:
  std::unique_ptr<File> open(const std::string& path, Access access, CachePath cache_path = CachePath::buffered,
                             Completion completion = Completion::by_ticket) const {
    static constexpr std::array<std::int32_t, 1> openers{0};
    return backend_->open({.path = path,
                           .access = access,
                           .cache_path = cache_path,
                           .openers = openers,
                           .hints = {},
                           .max_started = 2,
                           .completion = completion});
  }

  /// Nothing, where the file system of the test's folder cannot; then the test is skipped.
  std::unique_ptr<File> open_if_possible(Access access, CachePath cache_path, std::string& why) const {
    try {
      return open(path_, access, cache_path);
    } catch (const Error& error) {
      const std::string file_system = file_system_of(folder_.path());
      const bool can_be_direct = file_system == "ext4" || file_system == "xfs";
      EXPECT_FALSE(cache_path == CachePath::direct && can_be_direct) << error.what();
      EXPECT_EQ(error.status(), ExitStatus::something_missing);
      why = error.what();
      return nullptr;
    }
  }

  std::uint64_t cached_pages() const {
    const std::array<ByteRange, 1> all{{{0, block_bytes}}};
    return cache_state(path_, all).cached;
  }

  std::unique_ptr<Backend> backend_ = posix::module().make({});
  test::Folder folder_;
  std::string path_ = folder_ / "file";
  alignas(4096) std::array<std::byte, block_bytes> block_{};
};

/// Flags of this process's open descriptors of that file.
std::vector<int> flags_of(const std::string& path) {
  std::vector<int> all;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(one.path(), ignored) != path) continue;
    all.push_back(::fcntl(std::stoi(one.path().filename()), F_GETFL));
  }
  return all;
}

TEST_F(Posix, DirectCallsAreDirect) {
  std::string why;
  const auto file = open_if_possible(Access::write, CachePath::direct, why);
  if (!file) GTEST_SKIP() << why;
  file->start_write(0, 0, block_, false);  // descriptors of calls under way, too
  EXPECT_EQ(file->wait(0, Deadline::after(60s)), block_bytes);
  EXPECT_EQ(file->write_at(block_bytes, block_), block_bytes);
  const auto flags = flags_of(path_);
  EXPECT_EQ(flags.size(), 3u);
  for (const int one : flags) EXPECT_TRUE((one & O_DIRECT) != 0);
  file->sync();
  const std::array<ByteRange, 1> all{{{0, block_bytes}}};
  if (cache_state(path_, all).is_known) {
    EXPECT_EQ(cached_pages(), 0u);
  }
}

TEST_F(Posix, DirectCallsThatDoNotFitTheStorageAreRefusedInWords) {
  std::string why;
  const auto file = open_if_possible(Access::write, CachePath::direct, why);
  if (!file) GTEST_SKIP() << why;
  const auto expect_refusal = [&](std::uint64_t offset_bytes, std::size_t first, std::size_t size_bytes) {
    const auto data = std::span<const std::byte>(block_).subspan(first, size_bytes);
    const Error error = test::error_of([&] { file->write_at(offset_bytes, data); });
    EXPECT_THAT(error.why(), HasSubstr("direct I/O takes"));
    EXPECT_THAT(error.what(), HasSubstr(path_));
  };
  expect_refusal(3, 0, 4096);
  expect_refusal(0, 0, 100);
  EXPECT_EQ(file->size_bytes(), 0u);
}

TEST_F(Posix, MemoryTakesNoDirectAndNoUncachedCalls) {
  if (file_system_of("/dev/shm") != "tmpfs") GTEST_SKIP() << "/dev/shm is no tmpfs";
  std::string folder = "/dev/shm/leadline-test-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) GTEST_SKIP() << "/dev/shm takes no files";
  for (const CachePath path : {CachePath::direct, CachePath::uncached}) {
    const Error error = test::error_of([&] { open(folder + "/file", Access::write, path)->close(); });
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.what(), HasSubstr(folder));
    EXPECT_THAT(error.why(), HasSubstr("tmpfs"));
    EXPECT_THAT(error.hint(), HasSubstr(path == CachePath::direct ? "--direct" : "--uncached"));
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Posix, UncachedCallsLeaveNothingInTheCache) {
  std::string why;
  const auto writer = open_if_possible(Access::write, CachePath::uncached, why);
  if (!writer) GTEST_SKIP() << why;
  EXPECT_EQ(writer->write_at(0, block_), block_bytes);
  writer->sync();
  EXPECT_EQ(cached_pages(), 0u);
  const auto uncached = open(path_, Access::read, CachePath::uncached);
  EXPECT_EQ(uncached->read_at(0, block_), block_bytes);
  EXPECT_EQ(cached_pages(), 0u);
  EXPECT_EQ(open(path_, Access::read)->read_at(0, block_), block_bytes);  // that it could be otherwise
  EXPECT_EQ(cached_pages(), block_bytes / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

TEST_F(Posix, WhatIsNoFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  for (const Access access : {Access::write, Access::read}) {
    EXPECT_THAT(test::error_of([&] { open(path_, access)->close(); }).what(), HasSubstr(path_));
    EXPECT_THAT(test::error_of([&] { open("/dev/null", access)->close(); }).why(), HasSubstr("no ordinary file"));
  }
  EXPECT_THAT(test::error_of([&] { open(folder_.path(), Access::read)->close(); }).why(),
              HasSubstr("no ordinary file"));
}

TEST_F(Posix, RefusesWhatItHasNot) {
  EXPECT_EQ(backend_->refuses({FileCalls::blocking, true, CachePath::buffered}),
            "POSIX has no collective calls; use --backend mpi-io");
  EXPECT_THAT(backend_->refuses({FileCalls::non_blocking, false, CachePath::uncached}), HasSubstr("uncached"));
  EXPECT_EQ(backend_->refuses({FileCalls::non_blocking, false, CachePath::direct}), "");
  const auto file = open(path_, Access::write);
  EXPECT_THROW(file->write_at_all(0, block_), Error);
  EXPECT_THROW(file->start_write(0, 0, block_, true), Error);
  EXPECT_EQ(file->size_bytes(), 0u);
}

TEST_F(Posix, HasNoHints) { EXPECT_TRUE(open(path_, Access::write)->hints().empty()); }

TEST_F(Posix, TicketsAreThoseThatWereAskedFor) {
  const auto file = open(path_, Access::write);
  EXPECT_THROW(file->wait(0, Deadline::after(1s)), Error);  // nothing was started
  EXPECT_THROW(file->start_write(2, 0, block_, false), Error);
  file->start_write(1, 0, block_, false);
  EXPECT_THROW(file->start_write(1, 0, block_, false), Error);
  EXPECT_EQ(file->wait(1, Deadline::after(60s)), block_bytes);
  EXPECT_THROW(file->wait(1, Deadline::after(60s)), Error);
}

/// A page that keeps the kernel waiting when it wants to write there, until it is let go on.
class SlowPage {
 public:
  SlowPage() : fault_(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC))) {
    uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
    uffdio_register area{.range = range(), .mode = UFFDIO_REGISTER_MODE_MISSING, .ioctls = 0};
    is_slow_ =
        fault_ && ::ioctl(fault_.fd(), UFFDIO_API, &api) == 0 && ::ioctl(fault_.fd(), UFFDIO_REGISTER, &area) == 0;
  }
  SlowPage(const SlowPage&) = delete;
  SlowPage& operator=(const SlowPage&) = delete;
  ~SlowPage() {
    fault_.close();  // whoever waits goes on
    ::munmap(start_, page);
  }

  bool is_slow() const { return is_slow_; }
  std::span<std::byte> all() const { return {static_cast<std::byte*>(start_), page}; }

  void go_on() {
    uffdio_zeropage zero{.range = range(), .mode = 0, .zeropage = 0};
    EXPECT_EQ(::ioctl(fault_.fd(), UFFDIO_ZEROPAGE, &zero), 0);
  }

 private:
  static constexpr std::size_t page = 4096;
  uffdio_range range() const { return {reinterpret_cast<std::uintptr_t>(start_), page}; }

  void* start_ = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Descriptor fault_;
  bool is_slow_ = false;
};

TEST_F(Posix, AWaitEndsAtItsDeadlineAndMayBeTakenUpAgain) {
  std::ofstream(path_) << std::string(4096, 'x');
  SlowPage page;
  if (!page.is_slow()) GTEST_SKIP() << "userfaultfd: not for this user";
  const auto file = open(path_, Access::read);
  file->start_read(0, 0, page.all(), false);
  const Error error = test::error_of([&] { file->wait(0, Deadline::after(20ms)); });
  EXPECT_STREQ(error.what(), ("reading 4 KiB at 0 of " + path_ + " was not done in time").c_str());
  EXPECT_EQ(error.status(), ExitStatus::run_failed);
  page.go_on();
  EXPECT_EQ(file->wait(0, Deadline::after(60s)), 4096u);
  EXPECT_EQ(page.all()[4095], std::byte{'x'});
}

/// With a queue for two calls.
class PosixQueue : public Posix {
 protected:
  void SetUp() override {
    try {
      open_queue(Access::write);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::something_missing);
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<File> open_queue(Access access, CachePath cache_path = CachePath::buffered) const {
    return open(path_, access, cache_path, Completion::any_order);
  }
};

TEST_F(PosixQueue, TellsOfEachCallOnce) {
  const auto file = open_queue(Access::write);
  EXPECT_EQ(file->wait_any(Deadline::after(60s)), std::nullopt) << "nothing is under way";
  std::fill(block_.begin(), block_.end(), std::byte{7});
  file->start_write(0, 0, block_, false);
  file->start_write(1, block_bytes, block_, false);
  EXPECT_THROW(file->start_write(1, 0, block_, false), Error);
  EXPECT_THROW(file->start_write(2, 0, block_, false), Error);
  std::array<bool, 2> seen{};
  for (int i = 0; i < 2; ++i) {
    const std::optional<Ticket> ticket = file->wait_any(Deadline::after(60s));
    ASSERT_TRUE(ticket);
    EXPECT_EQ(file->wait_any(Deadline::after(0s)), ticket) << "until it is waited for";
    EXPECT_EQ(file->wait(*ticket, Deadline::after(0s)), block_bytes);
    EXPECT_FALSE(std::exchange(seen.at(*ticket), true));
  }
  EXPECT_EQ(file->wait_any(Deadline::after(60s)), std::nullopt);
  EXPECT_THROW(file->wait(0, Deadline::after(1s)), Error);
  EXPECT_EQ(file->size_bytes(), 2 * block_bytes);
}

TEST_F(PosixQueue, EndsWithTheFileAndTellsOfErrors) {
  std::ofstream(path_) << std::string(block_bytes + 100, 'x');
  const auto reader = open_queue(Access::read);
  reader->start_read(0, block_bytes, block_, false);
  EXPECT_EQ(reader->wait(0, Deadline::after(60s)), 100u);
  EXPECT_EQ(block_[99], std::byte{'x'});
  reader->start_read(1, 8 * block_bytes, block_, false);
  EXPECT_EQ(reader->wait(1, Deadline::after(60s)), 0u);
  reader->start_write(0, 0, block_, false);
  const Error error = test::error_of([&] { reader->wait(0, Deadline::after(60s)); });
  EXPECT_THAT(error.what(), HasSubstr("writing 64 KiB at 0 of " + path_ + " failed"));
  EXPECT_EQ(error.status(), ExitStatus::run_failed);
}

TEST_F(PosixQueue, GoesRoundThePageCacheOrLeavesNothingThere) {
  for (const CachePath path : {CachePath::direct, CachePath::uncached}) {
    std::filesystem::remove(path_);
    try {
      const auto writer = open_queue(Access::write, path);
      writer->start_write(0, 0, block_, false);
      EXPECT_EQ(writer->wait(0, Deadline::after(60s)), block_bytes);
      writer->sync();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::something_missing) << error.what();
      continue;
    }
    EXPECT_EQ(cached_pages(), 0u) << name_of(path);
  }
}

TEST_F(PosixQueue, AFileThatIsClosedEndsWhatIsUnderWay) {
  const auto file = open_queue(Access::write);
  file->start_write(0, 0, block_, false);
  file->start_write(1, block_bytes, block_, false);
  file->close();
  EXPECT_TRUE(flags_of(path_).empty());
}

/// From now on the kernel refuses this process io_uring_setup(2) with this error.
bool forbid_io_uring(std::uint32_t error_number) {
  constexpr std::uint32_t setup_number = 425;
  std::array<sock_filter, 4> steps{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, setup_number, 0, 1),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{steps.size(), steps.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(PosixQueue, SaysWhereTheKernelForbidsIt) {
  for (const int error_number : {EPERM, ENOSYS}) {
    const auto answer = cluster::ask_child(
        [&]() -> std::string {
          if (!forbid_io_uring(static_cast<std::uint32_t>(error_number))) return "no seccomp";
          const Error error = test::error_of([&] { open_queue(Access::write); });
          return std::to_string(static_cast<int>(error.status())) + " " + error.what();
        },
        60s);
    ASSERT_TRUE(answer.text) << answer.why;
    if (*answer.text == "no seccomp") GTEST_SKIP() << "seccomp: not for this user";
    EXPECT_THAT(*answer.text, testing::StartsWith("3 no queue of calls (io_uring) for " + path_ + " (" +
                                                  system_error_text(error_number)));
    EXPECT_THAT(*answer.text, HasSubstr("--queue-depth"));
  }
}

TEST_F(Posix, AFileThatIsClosedEndsWhatIsUnderWay) {
  const auto file = open(path_, Access::write);
  file->start_write(0, 0, block_, false);
  file->start_write(1, block_bytes, block_, false);
  file->close();
  EXPECT_TRUE(flags_of(path_).empty());
}

}  // namespace
}  // namespace leadline::storage
