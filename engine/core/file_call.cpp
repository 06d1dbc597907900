// SPDX-License-Identifier: Apache-2.0
// The text of a call that lasts.
#include "core/file_call.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>

#include "core/units.hpp"

namespace leadline {
namespace {

struct SystemCall {
  long number;
  const char* name;
  bool has_descriptor;  ///< its first argument: it may be that of a socket
};

// Not fcntl, which may wait for a lock of another rank.
constexpr SystemCall system_calls[] = {
    {SYS_read, "read", true},
    {SYS_write, "write", true},
    {SYS_readv, "readv", true},
    {SYS_writev, "writev", true},
    {SYS_pread64, "pread64", true},
    {SYS_pwrite64, "pwrite64", true},
    {SYS_preadv, "preadv", true},
    {SYS_pwritev, "pwritev", true},
    {SYS_preadv2, "preadv2", true},
    {SYS_pwritev2, "pwritev2", true},
    {SYS_close, "close", false},
    {SYS_fsync, "fsync", false},
    {SYS_fdatasync, "fdatasync", false},
    {SYS_fallocate, "fallocate", false},
    {SYS_ftruncate, "ftruncate", false},
    {SYS_truncate, "truncate", false},
    {SYS_fadvise64, "fadvise64", false},
    {SYS_openat, "openat", false},
    {SYS_unlinkat, "unlinkat", false},
    {SYS_statfs, "statfs", false},
    {SYS_fstatfs, "fstatfs", false},
    {SYS_statx, "statx", false},
    {SYS_fstat, "fstat", false},
    {SYS_mkdirat, "mkdirat", false},
    {SYS_getdents64, "getdents64", true},
    {426, "io_uring_enter", false},  // for which glibc 2.28 has no name
#ifdef SYS_open
    {SYS_open, "open", false},
    {SYS_mkdir, "mkdir", false},
    {SYS_rmdir, "rmdir", false},
    {SYS_unlink, "unlink", false},
    {SYS_stat, "stat", false},
    {SYS_lstat, "lstat", false},
    {SYS_access, "access", false},
#endif
#ifdef SYS_newfstatat
    {SYS_newfstatat, "newfstatat", false},
#endif
};

/// By its name alone: a call on the file might never return.
bool is_of_file_system(unsigned long descriptor) {
  std::array<char, 16> path{};
  const ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", descriptor).c_str(), path.data(), path.size());
  const std::string_view begin(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return begin.starts_with('/') && (!begin.starts_with("/dev/") || begin.starts_with("/dev/shm/"));
}

std::string time_of_day(std::uint64_t ago_ns) {
  const std::time_t then = std::time(nullptr) - static_cast<std::time_t>(ago_ns / 1'000'000'000);
  std::tm utc{};
  ::gmtime_r(&then, &utc);
  return fmt::format("{:02}:{:02}:{:02} UTC", utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

std::string CurrentFileCall::text(std::chrono::nanoseconds told_after) const {
  if (kind() == FileCallKind::none) return {};
  std::string text = doing_.load(std::memory_order_relaxed);
  const std::uint64_t size_bytes = size_bytes_.load(std::memory_order_relaxed);
  const std::uint64_t offset_bytes = offset_bytes_.load(std::memory_order_relaxed);
  if (size_bytes > 0) text += fmt::format(" {} at {} of", format_bytes(size_bytes), offset_bytes);
  {
    const std::lock_guard lock(mutex_);
    text += ' ' + file_;
  }
  const std::uint64_t now = now_ns(), begin = begin_ns();
  if (now < begin + static_cast<std::uint64_t>(told_after.count())) return text;
  text += " since " + time_of_day(now - begin);
  const std::string in_kernel = file_system_call();
  return in_kernel.empty() ? text : text + ", in " + in_kernel;
}

std::string CurrentFileCall::system_call() const {
  std::ifstream file(fmt::format("/proc/self/task/{}/syscall", thread_.load(std::memory_order_relaxed)));
  std::string line;
  std::getline(file, line);
  // Otherwise "running", or -1 where it waits for a page.
  const bool is_in_call = !line.empty() && line.front() >= '0' && line.front() <= '9';
  return is_in_call ? line : std::string();
}

std::string CurrentFileCall::file_system_call() const {
  std::istringstream line(system_call());
  long number = -1;
  unsigned long first_argument = 0;
  if (!(line >> number >> std::hex >> first_argument)) return {};
  for (const SystemCall& one : system_calls) {
    if (one.number != number) continue;
    return one.has_descriptor && !is_of_file_system(first_argument) ? std::string() : one.name;
  }
  return {};
}

}  // namespace leadline
