// SPDX-License-Identifier: Apache-2.0
// What a run tells its diagnosis about hosts, sockets and the network between them.
#pragma once

#include <cstdint>
#include <string>

#include "cli/run_environment.hpp"
#include "cluster/cluster.hpp"
#include "diagnosis/layout.hpp"

namespace leadline::cli {

/// Collective. `topology` is the user's, empty = nothing.
/// Throws AgreedError for a topology that cannot be read, or lacks hosts of the run.
diagnosis::Layout diagnosis_layout(cluster::Cluster& cluster, const RunEnvironment& run_environment,
                                   const std::string& topology);

}  // namespace leadline::cli
