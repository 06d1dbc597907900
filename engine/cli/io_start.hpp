// SPDX-License-Identifier: Apache-2.0
// What a parallel file test decides before its ranks are connected: who does the I/O, and whether its calls can be
// trusted here.
#pragma once

#include "cluster/launcher.hpp"
#include "model/io_request.hpp"
#include "storage/try_out.hpp"

namespace leadline::cli {

struct IoStart {
  storage::LoadedBackend backend;
  storage::Trial trial;  ///< of the calls that were asked for; counts on rank 0, and works where nothing was tried
};

/// Local, in every process before any MPI library is started: completes request.backend, loads the backend and, in the
/// process that will be rank 0, tries out calls that are known to be fragile, beside the target. Throws
/// Error(bad_command_line, something_missing).
IoStart start_io(IoRequest& request, cluster::FrontEnd front_end = cluster::FrontEnd::leadline);

}  // namespace leadline::cli
