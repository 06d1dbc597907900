// SPDX-License-Identifier: Apache-2.0
// `leadline topology`: its command line, and one rank's run, whoever started it and however the result is shown.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/topology/output.hpp"
#include "bench/topology/request.hpp"
#include "bench/topology/result.hpp"
#include "cluster/bootstrap.hpp"
#include "command/run_validation.hpp"
#include "command/staged_run.hpp"
#include "transport/module.hpp"

namespace leadline::bench::topology {

using TopologyPresentation = command::PresentationOf<TopologyResult, Progress>;

/// That of `leadline topology`.
TopologyPresentation own_presentation(const TopologyRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_topology(const TopologyRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                 const transport::LoadedModule& module, const TopologyPresentation& presentation);

// `arguments` as in argv, the program's name and the command included.

/// No side effects. Throws Error(bad_command_line); HelpWanted where --help stands.
TopologyRequest parse_topology_command(const std::vector<std::string>& arguments);

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_options(const command::IsGiven& is_given, const TopologyRequest& request);

/// `leadline topology`: the exit status.
int topology_command(const std::vector<std::string>& arguments);

}  // namespace leadline::bench::topology
