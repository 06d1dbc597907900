// SPDX-License-Identifier: Apache-2.0
// Pages are counted where they are, and gone when they were dropped.
#include "storage/page_cache.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <limits>

#include "cluster/child.hpp"
#include "core/error.hpp"
#include "support/folder.hpp"
#include "support/refusal.hpp"

namespace leadline::storage::page_cache_test {
namespace {

const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));

/// A file of 64 pages, just written.
class PageCache : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << std::string(64 * page, 'x');
    if (!state().is_known) GTEST_SKIP() << "the page cache cannot be looked at on " << file_system_of(path_);
  }

  CacheState state(std::uint64_t offset_bytes = 0, std::uint64_t size_bytes = 64 * page) const {
    const std::array<ByteRange, 1> stretches{{{offset_bytes, size_bytes}}};
    return cache_state(path_, stretches);
  }

  void read_at(std::uint64_t offset_bytes) const {
    const int fd = ::open(path_.c_str(), O_RDONLY);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);  // nothing is read ahead
    char byte = 0;
    EXPECT_EQ(::pread(fd, &byte, 1, static_cast<off_t>(offset_bytes)), 1);
    ::close(fd);
  }

  bool is_dropped() const {
    drop_from_cache(path_);
    return state().cached == 0;
  }

  test::Folder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(PageCache, HoldsWhatWasWritten) {
  EXPECT_EQ(state().pages, 64u);
  EXPECT_EQ(state().cached, 64u);
  EXPECT_LE(state().dirty + state().writeback, 128u);
}

TEST_F(PageCache, HasNothingDirtyBehindASync) {
  if (!knows_dirty_pages(path_)) GTEST_SKIP() << "dirty pages cannot be told here";
  if (is_memory(file_system_of(path_))) GTEST_SKIP() << "what is in memory alone is dirty for ever";
  const int fd = ::open(path_.c_str(), O_WRONLY);
  EXPECT_EQ(::pwrite(fd, "y", 1, 0), 1);
  const CacheState before = state();
  EXPECT_GE(before.dirty + before.writeback, 1u);
  EXPECT_EQ(::fsync(fd), 0);
  ::close(fd);
  EXPECT_EQ(state().dirty, 0u);
  EXPECT_EQ(state().writeback, 0u);
  EXPECT_EQ(state().cached, 64u);
}

TEST_F(PageCache, IsEmptiedByDropping) {
  if (is_memory(file_system_of(path_))) {
    EXPECT_FALSE(is_dropped()) << "memory cannot be dropped";
    return;
  }
  EXPECT_TRUE(is_dropped());
  EXPECT_EQ(state().pages, 64u);
  EXPECT_EQ(test::contents_of(path_), std::string(64 * page, 'x'));
  EXPECT_EQ(state().cached, 64u);
}

TEST_F(PageCache, IsLookedAtByStretches) {
  if (is_memory(file_system_of(path_))) GTEST_SKIP() << "all of it is always in memory";
  ASSERT_TRUE(is_dropped());
  read_at(20 * page);
  EXPECT_EQ(state(20 * page, page).cached, 1u);
  EXPECT_EQ(state(20 * page + 5, 1).pages, 1u);
  EXPECT_EQ(state(20 * page + 5, 1).cached, 1u);
  EXPECT_EQ(state(0, page).cached, 0u);
  EXPECT_EQ(state(40 * page, 24 * page).cached, 0u);
  EXPECT_EQ(state(20 * page - 1, 2).pages, 2u);
}

TEST_F(PageCache, CountsAPageOnceWhereStretchesMeet) {
  const std::array<ByteRange, 4> stretches{{{0, 100}, {100, 100}, {page, 2 * page}, {5 * page, 0}}};
  EXPECT_EQ(cache_state(path_, stretches).pages, 3u);
  const std::array<ByteRange, 2> apart{{{0, 1}, {9 * page, 1}}};
  EXPECT_EQ(cache_state(path_, apart).pages, 2u);
  EXPECT_EQ(cache_state(path_, apart).cached, 2u);
}

TEST_F(PageCache, EndsWithTheFile) {
  EXPECT_EQ(state(63 * page, std::uint64_t{1} << 40u).pages, 1u);
  EXPECT_EQ(state(63 * page, std::numeric_limits<std::uint64_t>::max()).pages, 1u);
  EXPECT_EQ(state(64 * page, page).pages, 0u);
  EXPECT_TRUE(state(64 * page, page).is_known);
  EXPECT_EQ(cache_state(path_, {}).pages, 0u);
}

TEST_F(PageCache, IsNotKnownOfWhatIsNoFile) {
  const std::array<ByteRange, 1> stretches{{{0, page}}};
  EXPECT_FALSE(cache_state(folder_ / "nothing", stretches).is_known);
  EXPECT_FALSE(cache_state(folder_.path(), stretches).is_known);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(cache_state(folder_ / "pipe", stretches).is_known);
}

/// From now on this process's kernel is one before Linux 6.5.
bool forget_cachestat() {
  constexpr std::uint32_t cachestat_number = 451;
  std::array<sock_filter, 4> steps{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, cachestat_number, 0, 1),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{steps.size(), steps.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(PageCache, IsKnownToOlderKernelsButForDirtyPages) {
  drop_from_cache(path_);
  read_at(20 * page);
  const std::uint64_t cached = state().cached;
  const auto answer = cluster::ask_child(
      [&]() -> std::string {
        if (!forget_cachestat()) return "no seccomp";
        const CacheState all = state();
        return std::string(knows_dirty_pages() ? "dirty " : "") + (all.is_known ? "known " : "") +
               std::to_string(all.pages) + " " + std::to_string(all.cached) + " " + std::to_string(all.dirty);
      },
      std::chrono::seconds(60));
  ASSERT_TRUE(answer.text) << answer.why;
  if (*answer.text == "no seccomp") GTEST_SKIP() << "the kernel does not let go of cachestat";
  EXPECT_EQ(*answer.text, "known 64 " + std::to_string(cached) + " 0");
}

TEST_F(PageCache, SaysWhatItCannotDrop) {
  const Error error = test::error_of([&] { drop_from_cache(folder_ / "nothing"); });
  EXPECT_EQ(error.status(), ExitStatus::run_failed);
  EXPECT_THAT(error.what(), testing::HasSubstr(folder_ / "nothing"));
}

TEST(FileSystems, HaveNames) {
  EXPECT_EQ(file_system_of("/proc/self"), "proc");
  EXPECT_EQ(file_system_of("/nowhere"), "");
  EXPECT_NE(file_system_of("/"), "");
}

TEST(FileSystems, MayBeMemory) {
  for (const char* name : {"tmpfs", "ramfs"}) EXPECT_TRUE(is_memory(name));
  for (const char* name : {"ext4", "nfs", "lustre", "", "0x1234"}) EXPECT_FALSE(is_memory(name)) << name;
}

TEST(FileSystems, HaveRoomOrDoNotSay) {
  const test::Folder folder;
  EXPECT_GT(free_bytes(folder.path()), 0u);
  EXPECT_LT(free_bytes(folder.path()), std::uint64_t{1} << 60u);
  EXPECT_EQ(free_bytes("/nowhere"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(free_bytes("/proc"), std::numeric_limits<std::uint64_t>::max());  // it knows no sizes
}

}  // namespace
}  // namespace leadline::storage::page_cache_test
