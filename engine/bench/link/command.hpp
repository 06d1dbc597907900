// SPDX-License-Identifier: Apache-2.0
// `leadline link`: its command line, and one rank's run, whoever started it and however the result is shown.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/link/file.hpp"
#include "bench/link/output.hpp"
#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "bench/plan.hpp"
#include "cluster/bootstrap.hpp"
#include "command/run_validation.hpp"
#include "command/staged_run.hpp"
#include "transport/module.hpp"

namespace leadline::bench::link {

struct LinkPresentation : command::PresentationOf<LinkResult, Progress> {
  /// All ranks, once it is known who is where: takes out of the request what the hosts do not allow, in the same way on
  /// all. May be empty.
  std::function<void(LinkRequest& request, const bench::RankLayout& rank_layout)> adapt;

  /// All ranks: what the front end wants else of its result file. May be empty.
  std::function<void(LinkFileSetup& setup)> set_up_file;
};

/// That of `leadline link`.
LinkPresentation own_presentation(const LinkRequest& request);

/// Local: one rank's run, of a rank that has joined the others; `module` and `presentation` outlive it.
std::unique_ptr<command::BenchmarkRun> rank_run(const LinkRequest& request, cluster::Cluster& cluster,
                                                const transport::LoadedModule& module,
                                                const LinkPresentation& presentation, double joining_s);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_link(const LinkRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
             const transport::LoadedModule& module, const LinkPresentation& presentation);

// `arguments` as in argv, the program's name and the command included.

/// No side effects. Throws Error(bad_command_line); HelpWanted where --help stands.
LinkRequest parse_link(const std::vector<std::string>& arguments);

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_options(const command::IsGiven& is_given, const LinkRequest& request);

/// `leadline link`: the exit status.
int link_command(const std::vector<std::string>& arguments);

}  // namespace leadline::bench::link
