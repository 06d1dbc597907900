// SPDX-License-Identifier: Apache-2.0
// Both versions of control groups: cgroups(7), and the kernel's admin-guide/cgroup-v1 and cgroup-v2.
#include "core/control_group.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace leadline {
namespace {

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "max" is no number: no limit.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// The value behind a name in lines of "NAME VALUE".
std::optional<std::uint64_t> value_of(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  for (std::uint64_t value = 0; file >> word >> value;) {
    if (word == name) return value;
  }
  return std::nullopt;
}

bool names(const std::string& controllers, const std::string& controller) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == controller) return true;
  }
  return false;
}

std::optional<double> quota_of(const std::string& directory) {
  std::istringstream both(first_line_of(directory + "/cpu.max"));
  double quota_us = 0, period_us = 0;
  if (both >> quota_us >> period_us && period_us > 0) return quota_us / period_us;
  std::istringstream quota(first_line_of(directory + "/cpu.cfs_quota_us"));
  std::istringstream period(first_line_of(directory + "/cpu.cfs_period_us"));
  if (quota >> quota_us && period >> period_us && quota_us > 0 && period_us > 0) return quota_us / period_us;
  return std::nullopt;
}

std::optional<std::uint64_t> memory_left_in(const std::string& directory) {
  struct Names {
    const char *limit, *used, *reclaimable;
  };
  constexpr Names versions[] = {{"/memory.max", "/memory.current", "inactive_file"},
                                {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"}};
  for (const Names& version : versions) {
    const auto limit = number_in(directory + version.limit);
    if (!limit) continue;
    const std::uint64_t used = number_in(directory + version.used).value_or(0);
    const std::uint64_t reclaimable = value_of(directory + "/memory.stat", version.reclaimable).value_or(0);
    const std::uint64_t in_use = used - std::min(used, reclaimable);
    return *limit - std::min(*limit, in_use);
  }
  return std::nullopt;
}

template <class Number, class NumberOf>
std::optional<Number> least(const std::vector<std::string>& directories, const NumberOf& number_of) {
  std::optional<Number> least;
  for (const std::string& directory : directories) {
    const auto number = number_of(directory);
    if (number) least = std::min(least.value_or(*number), *number);
  }
  return least;
}

}  // namespace

std::vector<std::string> control_groups(const std::string& controller, const ControlGroupFiles& files) {
  std::ifstream lines(files.own_groups);
  std::vector<std::string> directories;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    const bool is_second_version = controllers.empty();
    if (!group.starts_with('/') || !(is_second_version || names(controllers, controller))) continue;
    const std::string mount = is_second_version ? files.mount : files.mount + "/" + controller;
    for (std::filesystem::path path = group;; path = path.parent_path()) {
      directories.push_back(mount + path.string());
      if (!path.has_relative_path()) break;
    }
  }
  return directories;
}

std::optional<double> cpu_quota(const ControlGroupFiles& files) {
  return least<double>(control_groups("cpu", files), quota_of);
}

std::optional<std::uint64_t> memory_left_bytes(const ControlGroupFiles& files) {
  return least<std::uint64_t>(control_groups("memory", files), memory_left_in);
}

std::uint64_t out_of_memory_kills(const ControlGroupFiles& files) {
  for (const std::string& directory : control_groups("memory", files)) {
    for (const char* file : {"/memory.events", "/memory.oom_control"}) {
      if (const auto kills = value_of(directory + file, "oom_kill")) return *kills;
    }
  }
  return 0;
}

}  // namespace leadline
