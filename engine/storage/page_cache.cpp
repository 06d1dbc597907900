// SPDX-License-Identifier: Apache-2.0
// Which file system a file is on, and what of the file lies in the kernel's page cache.
#include "storage/page_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"
#include "core/error.hpp"

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

  /// How many of its pages are there; nothing where that is unknown.
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

struct Known {
  std::uint32_t number;
  const char* name;
};

// From linux/magic.h and, those that are not part of Linux, from their own sources.
constexpr Known known[] = {
    {0x0000ef53, "ext4"},  // ext2 and ext3, too
    {0x58465342, "xfs"},      {0x9123683e, "btrfs"},    {0xf2f52010, "f2fs"},     {0xca451a4e, "bcachefs"},
    {0x01021994, "tmpfs"},    {0x858458f6, "ramfs"},    {0x794c7630, "overlay"},  {0x00006969, "nfs"},
    {0xff534d42, "cifs"},     {0xfe534d42, "smb2"},     {0x0000517b, "smb"},      {0x01021997, "9p"},
    {0x65735546, "fuse"},     {0x00c36400, "ceph"},     {0x0bd00bd0, "lustre"},   {0x47504653, "gpfs"},
    {0x19830326, "beegfs"},   {0xaad7aaea, "panfs"},    {0x2fc12fc1, "zfs"},      {0x20030528, "orangefs"},
    {0x01161970, "gfs2"},     {0x7461636f, "ocfs2"},    {0x5346414f, "afs"},      {0x73757245, "coda"},
    {0x52654973, "reiserfs"}, {0x3153464a, "jfs"},      {0x00004d44, "vfat"},     {0x2011bab0, "exfat"},
    {0x5346544e, "ntfs"},     {0x7366746e, "ntfs3"},    {0x73717368, "squashfs"}, {0xe0f5e1e2, "erofs"},
    {0x00009660, "iso9660"},  {0x0000f15f, "ecryptfs"}, {0x786f4256, "vboxsf"},   {0x958458f6, "hugetlbfs"},
    {0x00009fa0, "proc"},     {0x62656572, "sysfs"},
};

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
  // Some file systems in user space report a size of 0 for every file.
  if (::statvfs(path.c_str(), &status) != 0 || status.f_blocks == 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

std::string file_system_of(const std::string& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return {};
  const auto number = static_cast<std::uint32_t>(status.f_type);
  const auto* const found =
      std::find_if(std::begin(known), std::end(known), [&](const Known& one) { return one.number == number; });
  return found != std::end(known) ? found->name : fmt::format("0x{:x}", number);
}

bool is_memory(const std::string& file_system) {
  return file_system == "tmpfs" || file_system == "ramfs" || file_system == "hugetlbfs";
}

CacheSight cache_sight(const std::string& file_system) {
  // overlay: bytes go through the pages of the file beneath, and mmap(2) is what leads there.
  if (file_system == "overlay") return CacheSight::mappings;
  // gpfs: its page pool; zfs: its ARC. Both use the page cache for mappings alone.
  if (file_system == "gpfs" || file_system == "zfs") return CacheSight::none;
  return CacheSight::full;
}

}  // namespace leadline::storage
