// SPDX-License-Identifier: Apache-2.0
// The bootstrap over PMIx, whose library is opened at run time: Open MPI's mpirun, srun --mpi=pmix and others.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// Local: opens the library, for ever; its name. Throws Error(something_missing) with the loader's reason, or why it is
/// not built.
std::string open_pmix();

/// Local, behind open_pmix(): starts the library under this launcher; at most once in a process. Blocks for `timeout`
/// at most, as does each all_gather then. Throws Error(something_missing) where the launcher's server is not there, and
/// Error(run_failed) where it does not answer. It has no membership. The library ends with joined().
std::unique_ptr<Bootstrap> pmix_bootstrap(Launcher launcher, std::chrono::nanoseconds timeout);

}  // namespace leadline::cluster
