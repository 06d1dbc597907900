// SPDX-License-Identifier: Apache-2.0
// What %r, %h and %p may and must do in the names of shared files and of ranks' own.
#include "bench/io/templates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_set>

#include "core/error.hpp"

namespace leadline::bench::io {
namespace {

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

bool is_shared(Movement movement) {
  return movement == Movement::n_1 || movement == Movement::n_m_1 || movement == Movement::n_m;
}

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
  if (is_shared(one.movement)) {
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
    if (is_shared(request.movement)) check_shared(one, num_hosts);
    if (!known.insert(name).second && !has(name, 'r') && !has(name, 'h') && !has(name, 'p')) {
      one.refuse(fmt::format("it stands there twice among the first {}", num_files),
                 "Give every file a name of its own");
    }
  }
  return templates;
}

}  // namespace

std::vector<std::string> templates_of(const IoRequest& request, const Plan& plan, const Names& names) {
  const auto& host_of = plan.rank_layout.host_of;
  const int num_hosts = host_of.empty() ? 1 : static_cast<int>(*std::ranges::max_element(host_of)) + 1;
  if (!request.targets_file.empty()) return of_list(request, plan, names, num_hosts);
  const bool is_one = plan.layout.num_files() == 1 && is_shared(request.movement);
  const std::string name = !request.target.empty() ? request.target : is_one ? "leadline-io" : "leadline-io.%r";
  const Template one{"--target", name, request.movement};
  check_name(one, request);
  if (is_shared(request.movement)) check_shared(one, num_hosts);
  check_distinct(one, plan);
  return std::vector<std::string>(static_cast<std::size_t>(plan.layout.num_files()), name);
}

}  // namespace leadline::bench::io
