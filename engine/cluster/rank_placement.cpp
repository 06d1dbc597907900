// SPDX-License-Identifier: Apache-2.0
// The binding and the NUMA node of this process, and the CPU quota of its control group.
#include "cluster/rank_placement.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cluster/cpu_list.hpp"

namespace leadline::cluster {
namespace {

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The node that holds all these cores; -1 where they lie on several. Read from the kernel's own list, because
/// loading an hwloc topology opens several files for every core of the machine (3 ms already with 2 cores), and all
/// ranks of a host would do it at the same moment.
int numa_node_of(const CpuList& cpus) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node") || name.find_first_not_of("0123456789", 4) != std::string::npos) continue;
    const CpuList node(first_line_of(entry.path().string() + "/cpulist"));
    if (node.contains(cpus)) return std::stoi(name.substr(4));
  }
  return -1;
}

std::optional<double> quota_in(const std::string& directory) {
  std::istringstream both(first_line_of(directory + "/cpu.max"));
  double quota_us = 0, period_us = 0;
  if (both >> quota_us >> period_us && period_us > 0) return quota_us / period_us;
  std::istringstream quota(first_line_of(directory + "/cpu.cfs_quota_us"));
  std::istringstream period(first_line_of(directory + "/cpu.cfs_period_us"));
  if (quota >> quota_us && period >> period_us && quota_us > 0 && period_us > 0) return quota_us / period_us;
  return std::nullopt;
}

bool is_cpu_controller(const std::string& names) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

/// The tightest limit of a group and of those around it.
std::optional<double> tightest(const std::string& mount, const std::string& group) {
  std::optional<double> least;
  for (std::filesystem::path path = group;; path = path.parent_path()) {
    const auto quota = quota_in(mount + path.string());
    if (quota) least = std::min(least.value_or(*quota), *quota);
    if (!path.has_relative_path()) return least;
  }
}

}  // namespace

std::optional<double> cpu_quota(const std::string& own_groups, const std::string& mount) {
  std::istringstream lines(own_groups);
  std::optional<double> least;
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/path" of version 1, "0::/path" of version 2
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (!group.starts_with('/')) continue;
    std::optional<double> quota;
    if (controllers.empty()) quota = tightest(mount, group);
    if (is_cpu_controller(controllers)) quota = tightest(mount + "/cpu", group);
    if (quota) least = std::min(least.value_or(*quota), *quota);
  }
  return least;
}

RankPlacement local_placement() {
  RankPlacement place;
  char name[256] = {};
  place.host = ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
  place.pid = static_cast<std::int32_t>(::getpid());
  const CpuList cpus = CpuList::of_this_thread();
  place.cpus = cpus.text();
  place.num_cpus = cpus.count();
  place.numa_node = numa_node_of(cpus);
  return place;
}

int usable_cores() {
  std::ifstream file("/proc/self/cgroup");
  const std::string own_groups{std::istreambuf_iterator<char>(file), {}};
  const auto quota = cpu_quota(own_groups, "/sys/fs/cgroup");
  const int num_bound = CpuList::of_this_thread().count();
  if (!quota || *quota >= num_bound) return std::max(1, num_bound);
  return std::max(1, static_cast<int>(std::ceil(*quota)));
}

}  // namespace leadline::cluster
