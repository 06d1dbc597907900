// SPDX-License-Identifier: Apache-2.0
// Names of file systems by the numbers of statfs(2), and the list of those that are out of the ordinary.
#include "storage/file_systems.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>

#include "storage/page_cache.hpp"

namespace leadline::storage {
namespace {

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
