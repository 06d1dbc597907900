// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's lists of cores and NUMA nodes, and deals them out.
#include "cluster/core_binding.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "core/error.hpp"

namespace leadline::cluster {
namespace {

/// 0, or what the system says.
int bind_this_thread(const CpuList& cpus) {
  const std::size_t num_sets = 1 + static_cast<std::size_t>(std::max(0, cpus.last())) / CPU_SETSIZE;
  std::vector<cpu_set_t> set(num_sets);
  for (int cpu = cpus.next(); cpu >= 0; cpu = cpus.next(cpu)) {
    CPU_SET_S(static_cast<std::size_t>(cpu), num_sets * sizeof(cpu_set_t), set.data());
  }
  return ::sched_setaffinity(0, num_sets * sizeof(cpu_set_t), set.data()) == 0 ? 0 : errno;
}

}  // namespace

HostCores host_cores(const CpuList& usable, const std::string& devices) {
  HostCores host;
  CpuList left = usable;
  for (int cpu = left.next(); cpu >= 0; cpu = left.next()) {
    CpuList core(first_line_of(fmt::format("{}/cpu/cpu{}/topology/thread_siblings_list", devices, cpu)));
    core.keep(left);
    core.add(cpu);
    left.remove(core);
    host.cores.push_back(std::move(core));
  }
  for (auto& [number, node] : numa_nodes(devices)) {
    node.keep(usable);
    if (node.count() > 0) host.numa_nodes.push_back(std::move(node));
  }
  if (host.numa_nodes.empty()) host.numa_nodes.push_back(usable);
  return host;
}

CpuList cpus_of_rank(const HostCores& host, Binding binding, int index, int num_ranks) {
  const auto place = static_cast<std::size_t>(index);
  if (binding == Binding::numa) return host.numa_nodes[place % host.numa_nodes.size()];
  if (static_cast<std::size_t>(num_ranks) <= host.cores.size()) return host.cores[place];
  std::vector<std::pair<int, int>> threads;  // which of its core, and its number
  for (const CpuList& core : host.cores) {
    int nth = 0;
    for (int cpu = core.next(); cpu >= 0; cpu = core.next(cpu)) threads.emplace_back(nth++, cpu);
  }
  CpuList own;
  if (static_cast<std::size_t>(num_ranks) > threads.size()) return own;
  std::ranges::stable_sort(threads, {}, &std::pair<int, int>::first);
  own.add(threads[place].second);
  return own;
}

BoundThread::BoundThread(const CpuList& cpus) : before_(CpuList::of_this_thread()) {
  const int error = bind_this_thread(cpus);
  if (error == 0) return;
  throw Error(ExitStatus::something_missing, fmt::format("cannot bind a rank to core {}", cpus.text()),
              system_error_text(error), "Leave it out with --bind none");
}

BoundThread::~BoundThread() { bind_this_thread(before_); }

}  // namespace leadline::cluster
