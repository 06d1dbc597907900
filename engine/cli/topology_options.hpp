// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline topology`, and which of its options contradict each other or would do nothing
// together.
#pragma once

#include <string>
#include <vector>

#include "cli/option_parser.hpp"
#include "cli/run_validation.hpp"
#include "model/topology_request.hpp"

namespace leadline::cli {

/// `arguments` as in argv, the program's name and the command included. No side effects.
/// Throws Error(bad_command_line); HelpWanted where --help stands.
TopologyRequest parse_topology_command(const std::vector<std::string>& arguments);

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_options(const IsGiven& is_given, const TopologyRequest& request);

}  // namespace leadline::cli
