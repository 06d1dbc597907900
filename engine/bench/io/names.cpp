// SPDX-License-Identifier: Apache-2.0
// Expands names of files, checks them, and brings them to all who open files under them.
#include "bench/io/names.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "bench/io/measure.hpp"
#include "bench/io/plan.hpp"
#include "cluster/bytes.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/block_pattern.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {

std::string directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The rank that names a file: the lowest of those that open it.
bool is_namer(const schedule::FileLayout& layout, int rank) {
  return layout.is_opener(rank) && layout.openers(layout.file_of(rank)).front() == rank;
}

std::string own_name(const IoRequest& request, const Plan& plan, int rank, const RankPlacement& placement) {
  const std::int32_t file = plan.layout.file_of(rank);
  const std::int32_t number = request.movement == schedule::Movement::n_m ? file : rank;
  return expand_target(plan.templates[at(file)], {number, placement.host, placement.pid});
}

/// Names as they come in, and what is wrong with them.
class GatheredNames {
 public:
  GatheredNames(const IoRequest& request, const schedule::FileLayout& layout)
      : option_(request.targets_file.empty() ? "--target" : "--targets"),
        layout_(layout),
        names_(at(layout.num_files())) {}

  /// Of a rank that names a file.
  void add(int rank, std::string_view name) {
    if (name.empty()) return;
    std::string& kept = names_[at(layout_.file_of(rank))];
    kept = name;
    const auto [before, is_new] = namer_of_.emplace(std::filesystem::path(kept).lexically_normal().string(), rank);
    if (is_new) return;
    // Ranks arrive in any order: the same two are named whenever there are no more than two.
    const int first = std::min(before->second, rank), second = std::max(before->second, rank);
    if (problem_ && first >= first_) return;
    first_ = first;
    problem_.emplace(ExitStatus::bad_command_line,
                     fmt::format("{} gives ranks {} and {} one file, {}", option_, first, second, kept),
                     "each must have its own",
                     option_ == "--target" ? "Add %r, which stands for the rank" : "Give every file a name of its own");
  }

  /// Once all are in.
  std::optional<Error> problem() const {
    if (problem_) return problem_;
    for (std::size_t file = 0; file < names_.size(); ++file) {
      if (!names_[file].empty()) continue;
      return Error(ExitStatus::bad_command_line, fmt::format("{} gives file {} no name", option_, file), {},
                   "Name every file");
    }
    return std::nullopt;
  }

  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::string option_;
  const schedule::FileLayout& layout_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> namer_of_;
  std::optional<Error> problem_;
  int first_ = 0;
};

std::string text_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) cluster::append_text(text, name);
  return text;
}

using schedule::Movement;

bool has(const std::string& name, char part) {
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] != '%') continue;
    if (name[++i] == part) return true;
  }
  return false;
}

/// A name, the option that it is of, and the files that are meant.
struct Template {
  const char* option;
  const std::string& name;
  Movement movement;

  [[noreturn]] void refuse(const std::string& why, const std::string& hint) const {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} cannot be '{}'", option, name), why, hint);
  }
};

/// Its form, and what no run can have in a name.
void check_name(const Template& one, const IoRequest& request) {
  if (one.name.empty() || one.name.back() == '/') one.refuse("it names no file", "Add the name of a file");
  try {
    expand_target(one.name, {});
  } catch (const Error& error) {
    one.refuse(error.why(), error.hint());
  }
  if (has(one.name, 'p') && request.operations == IoOperations::read) {
    one.refuse("%p stands for processes of this run, and --op read is to read what another one has written",
               "Write with names that have no %p, and give the same here");
  }
}

/// All who share a file must find the same name.
void check_shared(const Template& one, int num_hosts) {
  const bool is_numbered = one.movement == Movement::n_m;  // by file, so that %r is the same for all of a group
  if (has(one.name, 'r') && !is_numbered) {
    one.refuse(
        fmt::format("with --movement {} ranks share a file, and would open different ones", name_of(one.movement)),
        "Leave out %r");
  }
  if (has(one.name, 'p')) one.refuse("ranks share a file, and would open different ones", "Leave out %p");
  if (has(one.name, 'h') && num_hosts > 1) {
    one.refuse("ranks of several hosts share a file, and would open different ones", "Leave out %h");
  }
}

/// The same name for all files must become a name for each.
void check_distinct(const Template& one, const Plan& plan) {
  if (plan.layout.num_files() == 1 || has(one.name, 'r')) return;
  if (schedule::shares_files(one.movement)) {
    one.refuse(fmt::format("it would name {} files", plan.layout.num_files()),
               "Add %r, which stands for the number of the file");
  }
  if (has(one.name, 'p')) return;  // where it does not help, agree_on_names() finds it
  std::unordered_set<std::uint32_t> hosts;
  for (int rank = 0; rank < plan.layout.num_ranks(); ++rank) {
    if (!plan.layout.is_opener(rank)) continue;
    const std::uint32_t host =
        plan.rank_layout.host_of.empty() ? 0 : plan.rank_layout.host_of[static_cast<std::size_t>(rank)];
    if (has(one.name, 'h') && hosts.insert(host).second) continue;
    one.refuse(fmt::format("{} ranks would write to one file",
                           has(one.name, 'h') ? "several" : std::to_string(plan.layout.num_files())),
               "Add %r, which stands for the rank");
  }
}

std::vector<std::string> of_list(const IoRequest& request, const Plan& plan, const Names& names, int num_hosts) {
  const auto num_files = static_cast<std::size_t>(plan.layout.num_files());
  if (names.targets.size() < num_files) {
    throw Error(ExitStatus::bad_command_line, fmt::format("--targets {} is too short", request.targets_file),
                fmt::format("it has {} name{}, and --movement {} needs {}", names.targets.size(),
                            names.targets.size() == 1 ? "" : "s", name_of(request.movement), num_files),
                "Add names, one a line");
  }
  std::vector<std::string> templates(names.targets.begin(),
                                     names.targets.begin() + static_cast<std::ptrdiff_t>(num_files));
  std::unordered_set<std::string> known;
  for (const std::string& name : templates) {
    const Template one{"a name in --targets", name, request.movement};
    check_name(one, request);
    if (schedule::shares_files(request.movement)) check_shared(one, num_hosts);
    if (!known.insert(name).second && !has(name, 'r') && !has(name, 'h') && !has(name, 'p')) {
      one.refuse(fmt::format("it stands there twice among the first {}", num_files),
                 "Give every file a name of its own");
    }
  }
  return templates;
}

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

/// It becomes a directory that is removed at the end with all that is in it.
void check_is_new(const Target& target) {
  if (!target.is_there()) return;
  target.refuse("it is there, and --metadata makes a directory of this name and removes it at the end",
                fmt::format("Choose another name with {}, or remove it", target.option));
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

void check_space(const Target& target, const IoRequest& request, const Plan& plan, int rank) {
  const std::uint64_t free = storage::free_bytes(directory_of(target.path));
  const double needed = bytes_needed(target, request, plan, rank);
  if (needed <= static_cast<double>(free)) return;
  throw Error(ExitStatus::something_missing, fmt::format("the files do not fit beside {}", target.path),
              fmt::format("they need {} more, {} are free there", about_bytes(whole_bytes(needed)), about_bytes(free)),
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

std::string expand_target(const std::string& name, const NameParts& parts) {
  std::string expanded;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      expanded += name[i];
      continue;
    }
    const char part = ++i < name.size() ? name[i] : '\0';
    switch (part) {
      case 'r':
        expanded += std::to_string(parts.rank);
        break;
      case 'h':
        expanded += parts.host;
        break;
      case 'p':
        expanded += std::to_string(parts.pid);
        break;
      case '%':
        expanded += '%';
        break;
      default:
        throw Error(ExitStatus::bad_command_line, fmt::format("the name of a file cannot be '{}'", name),
                    part == '\0' ? "a % ends it" : fmt::format("%{} stands for nothing", part),
                    "Known are %r (rank), %h (host) and %p (process); write %% for a percent sign");
    }
  }
  return expanded;
}

std::vector<std::string> agree_on_names(const IoRequest& request, const Plan& plan, cluster::Cluster& cluster,
                                        const RankPlacement& placement) {
  if (request.no_file) return {};
  const schedule::FileLayout& layout = plan.layout;
  const int rank = cluster.rank();
  GatheredNames all(request, layout);
  cluster.gather(is_namer(layout, rank) ? own_name(request, plan, rank, placement) : std::string(),
                 [&](int of, std::string_view name) { all.add(of, name); });
  for (const cluster::LostRank& absent : cluster.lost_ranks()) {
    RankPlacement there;
    there.host = cluster.host_name(absent.rank);
    if (rank == 0 && is_namer(layout, absent.rank)) all.add(absent.rank, own_name(request, plan, absent.rank, there));
  }
  const std::optional<Error> problem = rank == 0 ? all.problem() : std::nullopt;
  try {
    cluster.agree(problem ? &*problem : nullptr);
  } catch (const Error& error) {
    throw AgreedError(error);
  }
  const std::string text = cluster.broadcast(rank == 0 ? text_of(all.take()) : std::string());
  std::vector<std::string> names;
  for (cluster::Reader reader(text); !reader.at_end();) names.push_back(reader.text());
  return names;
}

std::vector<std::string> templates_of(const IoRequest& request, const Plan& plan, const Names& names) {
  const auto& host_of = plan.rank_layout.host_of;
  const int num_hosts = host_of.empty() ? 1 : static_cast<int>(*std::ranges::max_element(host_of)) + 1;
  if (!request.targets_file.empty()) return of_list(request, plan, names, num_hosts);
  const bool is_one = plan.layout.num_files() == 1 && schedule::shares_files(request.movement);
  const std::string name = !request.target.empty() ? request.target : is_one ? "leadline-io" : "leadline-io.%r";
  const Template one{"--target", name, request.movement};
  check_name(one, request);
  if (schedule::shares_files(request.movement)) check_shared(one, num_hosts);
  check_distinct(one, plan);
  return std::vector<std::string>(static_cast<std::size_t>(plan.layout.num_files()), name);
}

void check_targets(const IoRequest& request, const Plan& plan, const std::vector<std::string>& files, int rank) {
  if (request.no_file || !plan.layout.is_opener(rank)) return;
  const Target target = look_at(files.at(static_cast<std::size_t>(plan.layout.file_of(rank))), request);
  check_directory(target);
  if (request.metadata) return check_is_new(target);
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
