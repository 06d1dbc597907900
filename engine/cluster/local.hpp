// SPDX-License-Identifier: Apache-2.0
// The built-in launcher: ranks as processes of this machine, without MPI, a shell or a network port open to others.
#pragma once

#include <functional>
#include <memory>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// Blocks: forks num_ranks children, runs rank_main in each (an Error that leaves it is printed by rank 0) and
/// ends each with what it returns; the caller's process only waits, and hands SIGINT, SIGTERM and SIGHUP on. No
/// child outlives it. Returns 0 if all did, else rank 0's status if that is not 0, else 4; says why the run ended if
/// no rank could. To be called while the process has one thread. Throws Error(run_failed) where the system
/// refuses processes or sockets.
int launch_local(int num_ranks, const std::function<int(std::unique_ptr<Bootstrap>)>& rank_main);

}  // namespace leadline::cluster
