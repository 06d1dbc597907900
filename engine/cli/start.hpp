// SPDX-License-Identifier: Apache-2.0
// How ranks that a launcher has started find each other.
#pragma once

#include <chrono>
#include <memory>

#include "cluster/bootstrap.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

/// Collective: the transport's own bootstrap where its library has one (MPI); with any other transport the explicit
/// variables, or the launcher's protocol: PMIx or PMI-2 where that module can be loaded, else its MPI library.
/// Throws Error(something_missing) with all reasons where none can be used, Error(bad_command_line) where explicit
/// variables make no sense. `launcher` is not `none`; no wait lasts longer than `timeout`.
std::unique_ptr<cluster::Bootstrap> launcher_bootstrap(const transport::LoadedModule& module,
                                                       cluster::Launcher launcher, std::chrono::nanoseconds timeout);

/// Local, where no launcher was recognised: throws Error(something_missing) where another one has started several
/// processes, which know nothing of each other. Each would measure its own host and find nothing wrong.
void refuse_unconnected_ranks();

}  // namespace leadline::cli
