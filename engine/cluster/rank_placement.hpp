// SPDX-License-Identifier: Apache-2.0
// Where this rank may run: cores, NUMA node, and whether the ranks of a host have a core each.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/provenance.hpp"

namespace leadline::cluster {

/// Local: host, pid, cores and NUMA node of the calling thread; the device is the transport's to say.
RankPlacement local_placement();

/// Local: how many cores this process can use at once, by its binding and the CPU quota of its control group;
/// at least 1.
int usable_cores();

struct CoreShare {
  double ranks_per_core_max = 0;  ///< on the host where it is worst; above 1, ranks take turns
  int host_index = 0;             ///< that host
  int num_ranks = 0;              ///< on that host
  int num_cores = 0;              ///< that its ranks may use, all together
  bool is_unbound = false;        ///< on some host several ranks may each run on all of their cores
  bool is_bound = false;          ///< on some host ranks may run on different cores
};

/// Collective: the same answer on all ranks.
CoreShare core_share(Cluster& cluster);

class CpuList {
 public:
  CpuList() = default;
  /// In the kernel's notation, "0-3,8"; what follows something else is left out.
  explicit CpuList(std::string_view text);
  /// Where the calling thread may run.
  static CpuList of_this_thread();

  void add(int cpu);
  void add(const CpuList& more);
  void remove(const CpuList& others);
  void keep(const CpuList& others);
  /// The lowest above `cpu`; -1 where there is none.
  int next(int cpu = -1) const;
  /// -1 where there is none.
  int last() const { return static_cast<int>(is_in_.size()) - 1; }
  bool contains(const CpuList& part) const;
  bool operator==(const CpuList& other) const = default;
  int count() const;
  std::string text() const;

 private:
  bool has(std::size_t cpu) const { return cpu < is_in_.size() && is_in_[cpu]; }
  template <class IsKept>
  void filter(const IsKept& is_kept);

  std::vector<bool> is_in_;  ///< by the number of the CPU; ends with one that is
};

/// Local: the cores of each NUMA node by its number, as the kernel lists them below `devices`.
std::map<int, CpuList> numa_nodes(const std::string& devices = "/sys/devices/system");

/// Local: without its line end; empty where it cannot be read.
std::string first_line_of(const std::string& path);

}  // namespace leadline::cluster
