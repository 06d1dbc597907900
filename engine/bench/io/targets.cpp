// SPDX-License-Identifier: Apache-2.0
// Checks the file that a rank is to open, and its directory, before anything is changed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <unordered_set>

#include "bench/io/measure.hpp"
#include "bench/io/plan.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/block_pattern.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {
namespace {

constexpr std::uint64_t status_unit_bytes = 512;  // of st_blocks

/// The file of one rank, and what exists under its name.
struct Target {
  const std::string& path;
  const char* option;
  std::optional<struct stat> status;

  bool is_there() const { return status.has_value(); }

  [[noreturn]] void refuse(const std::string& why, const std::string& hint) const {
    throw Error(ExitStatus::bad_command_line, "cannot use file " + path, why, hint);
  }
  [[noreturn]] void miss(const std::string& why, const std::string& hint) const {
    throw Error(ExitStatus::something_missing, "cannot use file " + path, why, hint);
  }
  std::string other_place() const { return fmt::format("Choose another place with {}", option); }
};

std::string directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string text_of_size(const struct stat& status) { return format_bytes(static_cast<std::uint64_t>(status.st_size)); }

Target look_at(const std::string& path, const IoRequest& request) {
  Target target{path, request.targets_file.empty() ? "--target" : "--targets", std::nullopt};
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    target.status = status;
  } else if (errno != ENOENT && errno != ENOTDIR) {
    target.miss(system_error_text(errno), target.other_place());
  }
  return target;
}

void check_directory(const Target& target) {
  const std::string directory = directory_of(target.path);
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) {
    target.refuse(fmt::format("its directory {}: {}", directory, system_error_text(errno)),
                  fmt::format("Make the directory first, or choose another place with {}", target.option));
  }
  if (!S_ISDIR(status.st_mode)) {
    target.refuse(fmt::format("{} is no directory", directory), target.other_place());
  }
  if (!target.is_there() && ::access(directory.c_str(), W_OK | X_OK) != 0) {
    target.miss(fmt::format("its directory {}: {}", directory, system_error_text(errno)), target.other_place());
  }
}

void check_kind(const Target& target) {
  if (!target.is_there() || S_ISREG(target.status->st_mode)) return;
  target.refuse(S_ISDIR(target.status->st_mode) ? "it is a directory" : "it is there, and no regular file",
                fmt::format("Choose another name with {}", target.option));
}

/// Whether a file begins as ours do.
bool begins_with_a_block(const Target& target) {
  const int fd = ::open(target.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) target.miss("it cannot be examined: " + system_error_text(errno), target.other_place());
  std::array<std::byte, memory::block_size_bytes> block{};
  const ssize_t num = ::pread(fd, block.data(), block.size(), 0);
  const int error_number = errno;
  ::close(fd);
  if (num < 0) target.miss("it cannot be examined: " + system_error_text(error_number), target.other_place());
  return memory::key_of_block(std::span(block).first(static_cast<std::size_t>(num))).has_value();
}

void check_overwriting(const Target& target, const IoRequest& request) {
  if (!target.is_there()) return;
  if (::access(target.path.c_str(), W_OK) != 0) target.miss(system_error_text(errno), target.other_place());
  if (target.status->st_size == 0 || request.overwrite_targets || begins_with_a_block(target)) return;
  target.refuse(
      fmt::format("it is there, has {}, and does not look like a file of this test", text_of_size(*target.status)),
      fmt::format("Choose another name with {}, or let it be written over with --overwrite-targets", target.option));
}

bool is_on_one_host(const std::string& file_system) {
  static const std::unordered_set<std::string> local{"ext4",  "xfs", "btrfs",   "f2fs", "bcachefs", "tmpfs",
                                                     "ramfs", "zfs", "overlay", "jfs",  "reiserfs", "hugetlbfs"};
  return local.contains(file_system);
}

/// Bytes that are written to the file system of this rank's file, less what they replace: files are alike, so this
/// rank's stands for all.
double bytes_needed(const Target& target, const IoRequest& request, const Plan& plan, int rank) {
  const bool is_local = is_on_one_host(storage::file_system_of(directory_of(target.path)));
  const auto& host_of = plan.rank_layout.host_of;
  const auto is_counted = [&](int other) {
    if (!plan.layout.is_opener(other)) return false;
    return !is_local || host_of.empty() ||
           host_of[static_cast<std::size_t>(other)] == host_of[static_cast<std::size_t>(rank)];
  };
  std::vector<bool> is_known(static_cast<std::size_t>(plan.layout.num_files()), false);
  double bytes = 0, num_files = 0;
  for (int other = 0; other < plan.layout.num_ranks(); ++other) {
    const std::int32_t file = plan.layout.file_of(other);
    if (!is_counted(other) || is_known[static_cast<std::size_t>(file)]) continue;
    is_known[static_cast<std::size_t>(file)] = true;
    bytes += static_cast<double>(std::max(plan.layout.file_size_bytes(file), request.preallocate_bytes));
    ++num_files;
  }
  const double replaced = target.is_there() ? static_cast<double>(target.status->st_blocks) * status_unit_bytes : 0;
  return bytes - replaced * num_files;
}

/// "72.1 GiB": rounded.
std::string rounded(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.1f} {}", bytes, units[unit]);
}

void check_space(const Target& target, const IoRequest& request, const Plan& plan, int rank) {
  const std::uint64_t free = storage::free_bytes(directory_of(target.path));
  const double needed = bytes_needed(target, request, plan, rank);
  if (needed <= static_cast<double>(free)) return;
  throw Error(ExitStatus::something_missing, fmt::format("the files do not fit beside {}", target.path),
              fmt::format("they need {} more, {} are free there", rounded(needed), rounded(static_cast<double>(free))),
              fmt::format("Choose fewer --objects, a smaller --object-size, or another place with {}", target.option));
}

void check_reading(const Target& target, const Plan& plan, int rank) {
  if (!target.is_there()) {
    target.miss("it is not there, and --op read reads what an earlier run has written",
                fmt::format("Write it with the same options first, or name what was written with {}", target.option));
  }
  if (::access(target.path.c_str(), R_OK) != 0) target.miss(system_error_text(errno), target.other_place());
  const std::uint64_t needed = plan.layout.file_size_bytes(plan.layout.file_of(rank));
  const auto size = static_cast<std::uint64_t>(target.status->st_size);
  if (size >= needed) return;
  target.miss(fmt::format("it has {}, and these options read {}", format_bytes(size), format_bytes(needed)),
              "Read with the options that it was written with: ranks, --movement, --objects, --object-size");
}

}  // namespace

void check_targets(const IoRequest& request, const Plan& plan, const std::vector<std::string>& files, int rank) {
  if (request.no_file || !plan.layout.is_opener(rank)) return;
  const Target target = look_at(files.at(static_cast<std::size_t>(plan.layout.file_of(rank))), request);
  check_directory(target);
  check_kind(target);
  if (request.operations == IoOperations::read) {
    check_reading(target, plan, rank);
    return;
  }
  check_overwriting(target, request);
  // With a time limit the number of objects is not known.
  if (request.time_limit_s == 0) check_space(target, request, plan, rank);
}

}  // namespace leadline::bench::io
