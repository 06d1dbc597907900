// SPDX-License-Identifier: Apache-2.0
// Asks the kernel which pages it holds, by cachestat(2) or mincore(2), and has it let go of them.
#include "storage/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "storage/descriptor.hpp"
#include "storage/file_systems.hpp"

namespace leadline::storage {
namespace {

// The same number on every architecture; headers before Linux 6.5 have neither it nor the structures.
constexpr long cachestat_number = 451;

struct KernelRange {
  std::uint64_t offset, length;
};

struct KernelCounts {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/// 0, or an error number.
int ask_cachestat(int fd, KernelRange range, KernelCounts& counts) {
  return ::syscall(cachestat_number, fd, &range, &counts, 0u) == 0 ? 0 : errno;
}

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// Pages [first, end).
struct Pages {
  std::uint64_t first = 0, end = 0;
};

/// The pages of those parts of the stretches that the file has, neighbours joined; the order is kept.
std::vector<Pages> pages_of(std::span<const ByteRange> stretches, std::uint64_t file_size) {
  std::vector<Pages> all;
  for (const ByteRange& stretch : stretches) {
    if (stretch.offset_bytes >= file_size || stretch.size_bytes == 0) continue;
    const std::uint64_t end = stretch.offset_bytes + std::min(stretch.size_bytes, file_size - stretch.offset_bytes);
    const Pages pages{stretch.offset_bytes / page_size(), (end - 1) / page_size() + 1};
    if (!all.empty() && pages.first >= all.back().first && pages.first <= all.back().end) {
      all.back().end = std::max(all.back().end, pages.end);
    } else {
      all.push_back(pages);
    }
  }
  return all;
}

/// 0, or an error number.
int count_by_cachestat(int fd, std::span<const Pages> all, CacheState& state) {
  for (const Pages& pages : all) {
    KernelCounts counts{};
    const KernelRange range{pages.first * page_size(), (pages.end - pages.first) * page_size()};
    if (const int error = ask_cachestat(fd, range, counts); error != 0) return error;
    state.cached += counts.cached;
    state.dirty += counts.dirty;
    state.writeback += counts.writeback;
  }
  return 0;
}

/// One window of a file in this process's addresses; nothing is read by that.
class Window {
 public:
  Window(int fd, const Pages& pages)
      : size_((pages.end - pages.first) * page_size()),
        start_(::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(pages.first * page_size()))) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    if (start_ != MAP_FAILED) ::munmap(start_, size_);
  }

  /// How many of its pages are there; nothing where it cannot be told.
  std::optional<std::uint64_t> count() const {
    std::vector<unsigned char> flags(size_ / page_size());
    if (start_ == MAP_FAILED || ::mincore(start_, size_, flags.data()) != 0) return std::nullopt;
    return std::count_if(flags.begin(), flags.end(), [](unsigned char flag) { return (flag & 1u) != 0; });
  }

 private:
  std::size_t size_;
  void* start_;
};

bool count_by_mincore(int fd, std::span<const Pages> all, CacheState& state) {
  constexpr std::uint64_t most_pages = 1 << 18;  // a window of 1 GiB, and 256 KiB of flags
  for (const Pages& pages : all) {
    for (std::uint64_t first = pages.first; first < pages.end; first += most_pages) {
      const auto count = Window(fd, {first, std::min(first + most_pages, pages.end)}).count();
      if (!count) return false;
      state.cached += *count;
    }
  }
  return true;
}

/// To others, mincore(2) says that all pages are there.
bool may_ask_mincore(int fd, const struct stat& status) {
  if (status.st_uid == ::geteuid() || ::geteuid() == 0) return true;
  return ::faccessat(fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

/// O_NONBLOCK: a FIFO would keep its opener waiting.
Descriptor open_to_look(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  return Descriptor(fd >= 0 ? fd : ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

CacheState cache_state(const std::string& path, std::span<const ByteRange> stretches) {
  const Descriptor file = open_to_look(path);
  struct stat status {};
  if (!file || ::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const CacheSight sight = cache_sight(file_system_of(path));
  if (sight == CacheSight::none) return {};
  CacheState state;
  const auto all = pages_of(stretches, static_cast<std::uint64_t>(status.st_size));
  for (const Pages& pages : all) state.pages += pages.end - pages.first;
  const int error = sight == CacheSight::full ? count_by_cachestat(file.fd(), all, state) : ENOSYS;
  state.is_known = error == 0;
  if (error == ENOSYS) {
    state.is_known = may_ask_mincore(file.fd(), status) && count_by_mincore(file.fd(), all, state);
  }
  return state.is_known ? state : CacheState{};
}

bool knows_dirty_pages(const std::string& path) {
  KernelCounts counts{};
  if (ask_cachestat(-1, {0, 0}, counts) == ENOSYS) return false;
  return path.empty() || cache_sight(file_system_of(path)) == CacheSight::full;
}

void drop_from_cache(const std::string& path) {
  const auto fail = [&](const char* what, int error) {
    throw Error(ExitStatus::run_failed, std::string(what) + " " + path + " failed", system_error_text(error));
  };
  const Descriptor file = open_to_look(path);
  if (!file) fail("opening", errno);
  if (::fsync(file.fd()) != 0) fail("syncing", errno);
  if (const int error = ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED); error != 0) {
    fail("dropping the cached pages of", error);
  }
}

std::uint64_t free_bytes(const std::string& path) {
  struct statvfs status {};
  // Some file systems in user space know no sizes and say 0 to all.
  if (::statvfs(path.c_str(), &status) != 0 || status.f_blocks == 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace leadline::storage
