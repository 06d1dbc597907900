// SPDX-License-Identifier: Apache-2.0
// Who we are, from a launcher that speaks PMI-1 over a connection that it has opened: MPICH's and Intel's mpiexec,
// flux run, srun --mpi=pmi2. Lines of text, for which no library is needed.
#pragma once

#include <chrono>
#include <memory>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// Local: greets the launcher's server over PMI_FD. No wait lasts longer than `timeout`, here and in all_gather.
/// Throws Error(something_missing) where there is no server, and Error(run_failed) where it does not answer.
std::unique_ptr<Bootstrap> pmi1_bootstrap(Launcher launcher, std::chrono::nanoseconds timeout);

}  // namespace leadline::cluster
