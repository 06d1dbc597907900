// SPDX-License-Identifier: Apache-2.0
// `leadline bisection`: its command line, and one rank's run, whoever started it and however the result is shown.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/bisection/output.hpp"
#include "bench/bisection/request.hpp"
#include "bench/bisection/result.hpp"
#include "cluster/bootstrap.hpp"
#include "command/run_validation.hpp"
#include "command/staged_run.hpp"
#include "transport/module.hpp"

namespace leadline::bench::bisection {

using BisectionPresentation = command::PresentationOf<BisectionResult, Progress>;

/// That of `leadline bisection`.
BisectionPresentation own_presentation(const BisectionRequest& request);

/// Local: one rank's run, of a rank that has joined the others; `module` and `presentation` outlive it.
std::unique_ptr<command::BenchmarkRun> rank_run(const BisectionRequest& request, cluster::Cluster& cluster,
                                                const transport::LoadedModule& module,
                                                const BisectionPresentation& presentation, double joining_s);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_bisection(const BisectionRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                  const transport::LoadedModule& module, const BisectionPresentation& presentation);

// `arguments` as in argv, the program's name and the command included.

/// No side effects. Throws Error(bad_command_line); HelpWanted where --help stands.
BisectionRequest parse_bisection_command(const std::vector<std::string>& arguments);

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_options(const command::IsGiven& is_given, const BisectionRequest& request);

/// `leadline bisection`: the exit status.
int bisection_command(const std::vector<std::string>& arguments);

}  // namespace leadline::bench::bisection
