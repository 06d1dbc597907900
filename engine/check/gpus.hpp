// SPDX-License-Identifier: Apache-2.0
// Which GPU each rank has, and by which transport messages pass between the GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"

namespace leadline::check {

/// The GPU of a rank; nothing where it has none.
struct OwnGpu {
  std::string pci_bus_id;            ///< "0000:17:00.0"
  std::vector<std::string> reached;  ///< itself, and those that this process sees and has peer access to
};

/// The GPUs of all ranks.
struct GpuLinks {
  std::string transport;                 ///< empty = nothing is measured between them
  std::string why_not;                   ///< in that case; empty where no rank has a GPU
  std::vector<std::string> pci_bus_ids;  ///< by rank; none where no rank has a GPU
};

/// `gpu_of`, `host_of`: by rank. `own_transport`: that of the check where it takes GPU memory, else empty; on one host
/// the transport cuda is preferred, whose copies are those of the GPUs.
GpuLinks gpu_links(const std::vector<OwnGpu>& gpu_of, std::span<const std::uint32_t> host_of,
                   const std::string& own_transport);

/// Collective, once a RunEnvironment has told which rank of its host each is: looks for the GPUs. `own_transport` as
/// above, the same on all ranks.
GpuLinks find_gpu_links(cluster::Cluster& cluster, const std::string& own_transport);

}  // namespace leadline::check
