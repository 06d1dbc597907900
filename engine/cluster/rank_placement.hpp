// SPDX-License-Identifier: Apache-2.0
// Where this rank may run: cores, NUMA node, and whether the ranks of a host have a core each.
#pragma once

#include <hwloc/bitmap.h>

#include <map>
#include <memory>
#include <string>

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
  CpuList() : bits_(hwloc_bitmap_alloc()) {}
  explicit CpuList(const std::string& text);
  /// Where the calling thread may run.
  static CpuList of_this_thread();

  void add(int cpu) { hwloc_bitmap_set(bits_.get(), static_cast<unsigned>(cpu)); }
  void remove(const CpuList& others) { hwloc_bitmap_andnot(bits_.get(), bits_.get(), others.bits_.get()); }
  void keep(const CpuList& others) { hwloc_bitmap_and(bits_.get(), bits_.get(), others.bits_.get()); }
  /// The lowest above `cpu`; -1 where there is none.
  int next(int cpu = -1) const { return hwloc_bitmap_next(bits_.get(), cpu); }
  /// -1 where there is none.
  int last() const { return hwloc_bitmap_last(bits_.get()); }
  CpuList copy() const { return CpuList(text()); }
  void add(const CpuList& more) { hwloc_bitmap_or(bits_.get(), bits_.get(), more.bits_.get()); }
  bool contains(const CpuList& part) const { return hwloc_bitmap_isincluded(part.bits_.get(), bits_.get()) != 0; }
  bool operator==(const CpuList& other) const { return hwloc_bitmap_isequal(bits_.get(), other.bits_.get()) != 0; }
  int count() const { return hwloc_bitmap_weight(bits_.get()); }
  std::string text() const;

 private:
  struct Free {
    void operator()(hwloc_bitmap_t bits) const { hwloc_bitmap_free(bits); }
  };
  std::unique_ptr<hwloc_bitmap_s, Free> bits_;
};

/// Local: the cores of each NUMA node by its number, as the kernel lists them below `devices`.
std::map<int, CpuList> numa_nodes(const std::string& devices = "/sys/devices/system");

/// Local: without its line end; empty where it cannot be read.
std::string first_line_of(const std::string& path);

}  // namespace leadline::cluster
