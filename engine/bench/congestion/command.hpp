// SPDX-License-Identifier: Apache-2.0
// `leadline congestion`: its command line, and one rank's run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/congestion/output.hpp"
#include "bench/congestion/request.hpp"
#include "bench/congestion/result.hpp"
#include "cluster/bootstrap.hpp"
#include "command/run_validation.hpp"
#include "command/staged_run.hpp"
#include "transport/module.hpp"

namespace leadline::bench::congestion {

using CongestionPresentation = command::PresentationOf<CongestionResult, Progress>;

/// Local: one rank's run, of a rank that has joined the others; `module` and `presentation` outlive it.
std::unique_ptr<command::BenchmarkRun> rank_run(const CongestionRequest& request, cluster::Cluster& cluster,
                                                const transport::LoadedModule& module,
                                                const CongestionPresentation& presentation, double joining_s);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_congestion(const CongestionRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                   const transport::LoadedModule& module);

// `arguments` as in argv, the program's name and the command included.

/// No side effects. Throws Error(bad_command_line); HelpWanted where --help stands.
CongestionRequest parse_congestion_command(const std::vector<std::string>& arguments);

/// `leadline congestion`: the exit status.
int congestion_command(const std::vector<std::string>& arguments);

}  // namespace leadline::bench::congestion
