// SPDX-License-Identifier: Apache-2.0
// `leadline io`: its command line, and one rank through a file test: the backend is opened before any library of the
// launcher starts, names are agreed on, then the stages of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/io/output.hpp"
#include "bench/io/plan.hpp"
#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "cluster/bootstrap.hpp"
#include "cluster/cluster.hpp"
#include "command/run_command.hpp"
#include "command/run_environment.hpp"
#include "command/run_validation.hpp"
#include "command/staged_run.hpp"
#include "storage/try_out.hpp"
#include "transport/module.hpp"

namespace leadline::bench::io {

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
Names gather_names(const IoRequest& request, const command::RunEnvironment& run_environment, cluster::Cluster& cluster);

/// Local, for --dry-run: hosts are "host0", "host1" ..., or those of --io-hosts.
Names dry_run_names(const IoRequest& request, const command::DryRunRanks& ranks);

/// Collective, the same on all ranks: random, or where files are only read, the number in the first one. Throws
/// AgreedError.
std::uint64_t run_of(const IoRequest& request, const Plan& plan, const std::vector<std::string>& files,
                     cluster::Cluster& cluster);

/// A run that an error ends in order says its summary, too, with the phases that there are; `complete` is false then.
using IoPresentation = command::PresentationOf<IoResult, Progress>;

/// That of `leadline io`.
IoPresentation own_presentation(const IoRequest& request);

/// Local: one rank's run, of a rank that has joined the others; `module`, `start` and `presentation` outlive it.
std::unique_ptr<command::BenchmarkRun> rank_run(const IoRequest& request, cluster::Cluster& cluster,
                                                const transport::LoadedModule& module, const IoStart& start,
                                                const IoPresentation& presentation, double joining_s);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_io(const IoRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
           const transport::LoadedModule& module, const IoStart& start, const IoPresentation& presentation);

// `arguments` as in argv, the program's name and the command included.

/// No side effects. Throws Error(bad_command_line); HelpWanted where --help stands.
IoRequest parse_io_command(const std::vector<std::string>& arguments);

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_options(const command::IsGiven& is_given, const IoRequest& request);

/// Likewise, once the backend is chosen: options that it ignores. `backend` is its name in the table.
void validate_backend_options(const IoRequest& request, const std::string& backend);

/// `leadline io`: the exit status.
int io_command(const std::vector<std::string>& arguments);

}  // namespace leadline::bench::io
