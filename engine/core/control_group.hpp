// SPDX-License-Identifier: Apache-2.0
// The control groups of this process: what the kernel, a container or a batch system lets it use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leadline {

/// Where a process finds its groups; given only by tests.
struct ControlGroupFiles {
  std::string own_groups = "/proc/self/cgroup";  ///< "4:cpu,cpuacct:/path" of version 1, "0::/path" of version 2
  std::string mount = "/sys/fs/cgroup";
};

/// Local: the directories of the groups of this process that have this controller, the innermost first, and those
/// around them. A group that is not visible from here (a container's) is left out; those around it are not.
std::vector<std::string> control_groups(const std::string& controller, const ControlGroupFiles& files = {});

/// Local: cores that the tightest control group allows. Nothing where there is no limit.
std::optional<double> cpu_quota(const ControlGroupFiles& files = {});

/// Local: bytes that this process can still get before the tightest control group is at its limit; what the group can
/// give up (file contents that were not used lately) counts as free. Nothing where there is no limit.
std::optional<std::uint64_t> memory_left_bytes(const ControlGroupFiles& files = {});

/// Local: how many processes of the group of this process the kernel has ended because memory ran out; 0 where it does
/// not tell.
std::uint64_t out_of_memory_kills(const ControlGroupFiles& files = {});

}  // namespace leadline
