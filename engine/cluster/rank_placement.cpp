// SPDX-License-Identifier: Apache-2.0
// Where this rank may run: cores, NUMA node, and whether the ranks of a host have a core each.
#include "cluster/rank_placement.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cluster/bytes.hpp"
#include "cluster/process_identity.hpp"
#include "core/control_group.hpp"

namespace leadline::cluster {
namespace {

/// More than a kernel can be made for.
constexpr int num_cpus_max = 1 << 20;

/// The node that holds all these cores; -1 where they lie on several.
int numa_node_of(const CpuList& cpus) {
  for (const auto& [number, node] : numa_nodes()) {
    if (node.contains(cpus)) return number;
  }
  return -1;
}

struct HostShare {
  std::uint32_t num_ranks = 0;
  std::uint32_t quota = 0;    ///< cores that the tightest control group leaves
  bool are_all_equal = true;  ///< all ranks so far may run on the same cores
  CpuList cpus;
};

using Shares = std::map<std::uint32_t, HostShare>;

std::string packed(const Shares& shares) {
  std::string bytes;
  for (const auto& [host, share] : shares) {
    append(bytes, host);
    append(bytes, share.num_ranks);
    append(bytes, share.quota);
    append(bytes, static_cast<std::uint8_t>(share.are_all_equal));
    append_text(bytes, share.cpus.text());
  }
  return bytes;
}

void add(Shares& shares, std::string_view bytes) {
  Reader reader(bytes);
  while (!reader.at_end()) {
    const auto host = reader.number<std::uint32_t>();
    HostShare more;
    more.num_ranks = reader.number<std::uint32_t>();
    more.quota = reader.number<std::uint32_t>();
    more.are_all_equal = reader.number<std::uint8_t>() != 0;
    more.cpus = CpuList(reader.text());
    const auto [entry, is_new] = shares.try_emplace(host);
    HostShare& share = entry->second;
    share.are_all_equal = more.are_all_equal && (is_new || (share.are_all_equal && share.cpus == more.cpus));
    share.quota = is_new ? more.quota : std::min(share.quota, more.quota);
    share.num_ranks += more.num_ranks;
    share.cpus.add(more.cpus);
  }
}

}  // namespace

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::map<int, CpuList> numa_nodes(const std::string& devices) {
  std::map<int, CpuList> nodes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(devices + "/node", ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node") || name.size() == 4 || name.find_first_not_of("0123456789", 4) != std::string::npos) {
      continue;
    }
    nodes.emplace(std::stoi(name.substr(4)), CpuList(first_line_of(entry.path().string() + "/cpulist")));
  }
  return nodes;
}

RankPlacement local_placement() {
  RankPlacement placement;
  placement.host = host_name();
  placement.pid = static_cast<std::int32_t>(::getpid());
  const CpuList cpus = CpuList::of_this_thread();
  placement.cpus = cpus.text();
  placement.num_cpus = cpus.count();
  placement.numa_node = numa_node_of(cpus);
  return placement;
}

int usable_cores() {
  const auto quota = cpu_quota();
  const int num_bound = CpuList::of_this_thread().count();
  if (!quota || *quota >= num_bound) return std::max(1, num_bound);
  return std::max(1, static_cast<int>(std::ceil(*quota)));
}

CpuList::CpuList(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](int& value) {
    const std::from_chars_result read = std::from_chars(at, end, value);
    at = read.ptr;
    return read.ec == std::errc{} && value >= 0 && value < num_cpus_max;
  };
  for (int first = 0; number(first);) {
    int last = first;
    if (at != end && *at == '-' && (++at == end || !number(last))) return;
    for (int cpu = first; cpu <= last; ++cpu) add(cpu);
    if (at == end || *at++ != ',') return;
  }
}

void CpuList::add(int cpu) {
  const auto place = static_cast<std::size_t>(cpu);
  if (place >= is_in_.size()) is_in_.resize(place + 1);
  is_in_[place] = true;
}

void CpuList::add(const CpuList& more) {
  for (int cpu = more.next(); cpu >= 0; cpu = more.next(cpu)) add(cpu);
}

template <class IsKept>
void CpuList::filter(const IsKept& is_kept) {
  for (std::size_t cpu = 0; cpu < is_in_.size(); ++cpu) is_in_[cpu] = is_in_[cpu] && is_kept(cpu);
  while (!is_in_.empty() && !is_in_.back()) is_in_.pop_back();
}

void CpuList::remove(const CpuList& others) {
  filter([&](std::size_t cpu) { return !others.has(cpu); });
}

void CpuList::keep(const CpuList& others) {
  filter([&](std::size_t cpu) { return others.has(cpu); });
}

int CpuList::next(int cpu) const {
  for (auto place = static_cast<std::size_t>(cpu + 1); place < is_in_.size(); ++place) {
    if (is_in_[place]) return static_cast<int>(place);
  }
  return -1;
}

bool CpuList::contains(const CpuList& part) const {
  for (int cpu = part.next(); cpu >= 0; cpu = part.next(cpu)) {
    if (!has(static_cast<std::size_t>(cpu))) return false;
  }
  return true;
}

int CpuList::count() const { return static_cast<int>(std::count(is_in_.begin(), is_in_.end(), true)); }

CpuList CpuList::of_this_thread() {
  CpuList cpus;
  // The kernel refuses a set smaller than its own, whose size it does not tell.
  for (std::size_t num_cpus = 1024; num_cpus <= num_cpus_max; num_cpus *= 2) {
    std::vector<cpu_set_t> set(num_cpus / CPU_SETSIZE);
    const std::size_t size_bytes = set.size() * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, size_bytes, set.data()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    for (std::size_t cpu = 0; cpu < num_cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, size_bytes, set.data())) cpus.add(static_cast<int>(cpu));
    }
    break;
  }
  return cpus;
}

std::string CpuList::text() const {
  std::string text;
  for (int first = next(); first >= 0;) {
    int last = first;
    while (has(static_cast<std::size_t>(last) + 1)) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
    first = next(last);
  }
  return text;
}

CoreShare core_share(Cluster& cluster) {
  Shares own;
  const std::uint32_t own_host = cluster.host_of()[static_cast<std::size_t>(cluster.rank())];
  HostShare& mine = own[own_host];
  mine.num_ranks = 1;
  mine.cpus = CpuList::of_this_thread();
  // A quota is taken for one that all ranks of the host share, which is how a container or a job has it.
  const int num_usable = usable_cores();
  mine.quota = num_usable < mine.cpus.count() ? static_cast<std::uint32_t>(num_usable) : UINT32_MAX;

  const std::string all = cluster.all_reduce(packed(own), [](const std::string& left, std::string_view right) {
    Shares both;
    add(both, left);
    add(both, right);
    return packed(both);
  });
  Shares shares;
  add(shares, all);
  CoreShare worst;
  for (const auto& [host, share] : shares) {
    const auto num_bound = static_cast<std::uint32_t>(std::max(1, share.cpus.count()));
    const std::uint32_t num_cores = std::min(num_bound, share.quota);
    const double ratio = static_cast<double>(share.num_ranks) / num_cores;
    if (share.are_all_equal && share.num_ranks > 1 && num_bound > 1) worst.is_unbound = true;
    if (!share.are_all_equal) worst.is_bound = true;
    if (ratio <= worst.ranks_per_core_max) continue;
    worst.ranks_per_core_max = ratio;
    worst.host_index = static_cast<int>(host);
    worst.num_ranks = static_cast<int>(share.num_ranks);
    worst.num_cores = static_cast<int>(num_cores);
  }
  return worst;
}

}  // namespace leadline::cluster
