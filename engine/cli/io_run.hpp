// SPDX-License-Identifier: Apache-2.0
// One rank through a file test: the backend is opened before any library of the launcher starts, names are agreed on,
// then the stages of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/io/output.hpp"
#include "bench/io/plan.hpp"
#include "cli/run_command.hpp"
#include "cli/run_environment.hpp"
#include "cli/staged_run.hpp"
#include "cluster/bootstrap.hpp"
#include "cluster/cluster.hpp"
#include "model/io_request.hpp"
#include "model/io_result.hpp"
#include "storage/try_out.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

/// What is known before any rank has met another.
struct IoStart {
  storage::LoadedBackend backend;
  storage::Trial trial;  ///< of the calls that were asked for; counts on rank 0, and works where nothing was tried
};

/// Local, in every process before any MPI library is started: completes request.backend, loads the backend and, in the
/// process that will be rank 0, tries out calls that are known to be fragile, beside the target. Throws
/// Error(bad_command_line, something_missing).
IoStart start_io(IoRequest& request, cluster::FrontEnd front_end = cluster::FrontEnd::leadline);

/// Collective, the same on all ranks: rank 0 reads --targets for all, since other hosts may not see it. Throws
/// AgreedError.
bench::io::Names gather_names(const IoRequest& request, const RunEnvironment& run_environment,
                              cluster::Cluster& cluster);

/// Local, for --dry-run: hosts are "host0", "host1" ..., or those of --io-hosts.
bench::io::Names dry_run_names(const IoRequest& request, const DryRunRanks& ranks);

/// Collective, the same on all ranks: random, or where files are only read, the number in the first one. Throws
/// AgreedError.
std::uint64_t run_of(const IoRequest& request, const bench::io::Plan& plan, const std::vector<std::string>& files,
                     cluster::Cluster& cluster);

/// A run that an error ends in order says its summary, too, with the phases that there are; `complete` is false then.
using IoPresentation = PresentationOf<IoResult, bench::io::Progress>;

/// That of `leadline io`.
IoPresentation own_presentation(const IoRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_io(const IoRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
           const transport::LoadedModule& module, const IoStart& start, const IoPresentation& presentation);

}  // namespace leadline::cli
