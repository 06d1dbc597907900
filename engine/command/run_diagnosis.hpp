// SPDX-License-Identifier: Apache-2.0
// The diagnosis at the end of a run: what it is told of hosts, sockets and the network, and what ranks have received.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cluster/cluster.hpp"
#include "command/run_environment.hpp"
#include "diagnosis/exchange.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/observations.hpp"
#include "model/diagnosis.hpp"

namespace leadline::command {

/// Collective. `topology` and `routes`, the path of forwarding tables, are the user's, empty = nothing. Names of
/// switches are rank 0's alone. Throws AgreedError for what cannot be read, or lacks hosts of the run.
diagnosis::Layout diagnosis_layout(cluster::Cluster& cluster, const RunEnvironment& run_environment,
                                   const std::string& topology, const std::string& routes = {});

/// Collective, on all ranks alike: see diagnosis::pairs_to_measure(). `own`: what this rank received.
diagnosis::PairsToMeasure pairs_to_measure(cluster::Cluster& cluster, std::span<const diagnosis::Observation> own,
                                           const diagnosis::Layout& layout, const DiagnosisSettings& settings,
                                           std::size_t most);

/// Collective; on the root what is said of a slice, where any rank has observed anything. `own`: what this rank
/// received; `slice_at_root`: what else the root knows of it. Memory: all observations on the root.
std::optional<DiagnosedSlice> diagnosed_at_root(cluster::Cluster& cluster, std::span<const diagnosis::Observation> own,
                                                const diagnosis::Layout& layout, const DiagnosisSettings& settings,
                                                const std::function<diagnosis::ObservedSlice()>& slice_at_root);

}  // namespace leadline::command
