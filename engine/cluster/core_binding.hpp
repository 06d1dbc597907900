// SPDX-License-Identifier: Apache-2.0
// Which cores each rank of a host is bound to, and binding the thread that measures.
#pragma once

#include <string>
#include <vector>

#include "cluster/rank_placement.hpp"
#include "model/request.hpp"

namespace leadline::cluster {

/// The cores of a host that its ranks may use.
struct HostCores {
  std::vector<CpuList> cores;       ///< the hardware threads of each, in the order of their lowest
  std::vector<CpuList> numa_nodes;  ///< in the order of their numbers; one, where the kernel tells of none
};

/// Local: what of this host lies within `usable`, as the kernel lists it below `devices`, which only tests give.
/// Where the kernel does not say which hardware threads are one core, each is a core.
HostCores host_cores(const CpuList& usable, const std::string& devices = "/sys/devices/system");

/// For --bind core and numa: where the rank number `index` of `num_ranks` on a host runs. Ranks take the cores one
/// after the other; where there are fewer cores than ranks the first hardware threads of all cores, then the second
/// ones. Empty where there are fewer hardware threads, too.
CpuList cpus_of_rank(const HostCores& host, Binding binding, int index, int num_ranks);

/// The calling thread, bound as long as this lives; threads that it starts meanwhile are bound, too. Afterwards it may
/// run where it could before.
class BoundThread {
 public:
  /// Throws Error(something_missing) where the system refuses it.
  explicit BoundThread(const CpuList& cpus);
  ~BoundThread();
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  CpuList before_;
};

}  // namespace leadline::cluster
