// SPDX-License-Identifier: Apache-2.0
// The diagnosis at the end of a run: what it is told of hosts, sockets and the network, and what ranks have received.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "command/run_environment.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/observations.hpp"
#include "model/diagnosis.hpp"

namespace leadline::command {

/// Collective. `topology` is the user's, empty = nothing.
/// Throws AgreedError for a topology that cannot be read, or lacks hosts of the run.
diagnosis::Layout diagnosis_layout(cluster::Cluster& cluster, const RunEnvironment& run_environment,
                                   const std::string& topology);

/// Collective; the root's is the result, empty elsewhere. `own`: what this rank received, slice by slice, as many on
/// all ranks; `slice_of`: what else the root knows of a slice. Memory: all observations on the root.
std::vector<DiagnosedSlice> diagnosed_at_root(
    cluster::Cluster& cluster, const std::vector<std::vector<diagnosis::Observation>>& own,
    const diagnosis::Layout& layout, const DiagnosisSettings& settings,
    const std::function<diagnosis::ObservedSlice(std::size_t index)>& slice_of);

}  // namespace leadline::command
