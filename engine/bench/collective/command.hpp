// SPDX-License-Identifier: Apache-2.0
// `leadline collective`: its command line, and one rank's run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/collective/output.hpp"
#include "bench/collective/request.hpp"
#include "bench/collective/result.hpp"
#include "cluster/bootstrap.hpp"
#include "command/staged_run.hpp"
#include "transport/module.hpp"

namespace leadline::bench::collective {

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_collective(const CollectiveRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                   const transport::LoadedModule& module);

// `arguments` as in argv, the program's name and the command included.

/// No side effects. Throws Error(bad_command_line); HelpWanted where --help stands.
CollectiveRequest parse_collective_command(const std::vector<std::string>& arguments);

/// `leadline collective`: the exit status.
int collective_command(const std::vector<std::string>& arguments);

}  // namespace leadline::bench::collective
