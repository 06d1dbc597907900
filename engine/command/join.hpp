// SPDX-License-Identifier: Apache-2.0
// How the ranks of a run join one another, all of them or those that are chosen.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "cluster/cluster.hpp"
#include "model/request.hpp"

namespace leadline::command {

/// How long the ranks wait for each other at the start.
std::chrono::nanoseconds start_timeout_of(const RunRequest& request);

/// Whether the run goes on without ranks that do not come.
bool leaves_out_absent(const RunRequest& request);

/// Collective: as the request says. Throws what Cluster::join() throws.
std::unique_ptr<cluster::Cluster> join(const RunRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap);

/// Collective: those that take part, in ascending order. Throws AgreedError.
using ChooseRanks = std::function<std::vector<int>(cluster::Cluster& all)>;

/// Collective: all ranks join one another, and `choose` says who goes on: by what these join a cluster of their own;
/// null on all others, which have left. Throws likewise, and AgreedError when all have left in order.
std::unique_ptr<cluster::Bootstrap> chosen_ranks(const RunRequest& request,
                                                 std::unique_ptr<cluster::Bootstrap> bootstrap,
                                                 const ChooseRanks& choose);

}  // namespace leadline::command
