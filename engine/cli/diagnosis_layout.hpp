// SPDX-License-Identifier: Apache-2.0
// Which rank is on which host, switch and socket, as every rank of a run needs it for the diagnosis.
#pragma once

#include <string>

#include "cli/run_environment.hpp"
#include "cluster/cluster.hpp"
#include "diagnosis/layout.hpp"

namespace leadline::cli {

/// Collective. Names are on rank 0 alone, which prints the text. `topology` is the user's, empty = nothing.
/// Throws AgreedError for a topology that cannot be read, or lacks hosts of the run.
diagnosis::Layout diagnosis_layout(cluster::Cluster& cluster, const RunEnvironment& run_environment,
                                   const std::string& topology);

}  // namespace leadline::cli
