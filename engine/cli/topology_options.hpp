// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline topology`, declared once: parsing and help follow from it.
#pragma once

#include <string>
#include <vector>

#include "cli/option_parser.hpp"
#include "model/topology_request.hpp"

namespace leadline::cli {

/// `arguments` as in argv, the program's name and the command included. No side effects.
/// Throws Error(bad_command_line); HelpWanted where --help stands.
TopologyRequest parse_topology_command(const std::vector<std::string>& arguments);

}  // namespace leadline::cli
