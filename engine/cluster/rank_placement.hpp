// SPDX-License-Identifier: Apache-2.0
// Where this rank may run: cores, NUMA node, and whether the ranks of a host have a core each.
#pragma once

#include <optional>
#include <string>

#include "cluster/cluster.hpp"
#include "model/provenance.hpp"

namespace leadline::cluster {

/// Local: host, pid, cores and NUMA node of the calling thread; the device is the transport's to say.
RankPlacement local_placement();

/// Local: how many cores this process can use at once, by its binding and the CPU quota of its control group;
/// at least 1.
int usable_cores();

/// Local: cores that a control group allows ("cpu.max", or cpu.cfs_quota_us of version 1), for the lines of
/// /proc/self/cgroup and the directory where control groups are mounted. Nothing where there is no limit.
std::optional<double> cpu_quota(const std::string& own_groups, const std::string& mount);

struct CoreShare {
  double ranks_per_core_max = 0;  ///< on the host where it is worst; above 1, ranks take turns
  int host_index = 0;             ///< that host
  int num_ranks = 0;              ///< on that host
  int num_cores = 0;              ///< that its ranks may use, all together
  bool is_unbound = false;        ///< on some host several ranks may each run on all of their cores
};

/// Collective: the same answer on all ranks.
CoreShare core_share(Cluster& cluster);

}  // namespace leadline::cluster
