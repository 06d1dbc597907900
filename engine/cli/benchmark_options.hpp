// SPDX-License-Identifier: Apache-2.0
// The command lines of the link and the bisection test.
#pragma once

#include <string>
#include <vector>

#include "command/option_parser.hpp"
#include "command/run_validation.hpp"
#include "model/bisection_request.hpp"
#include "model/link_request.hpp"

namespace leadline::cli {

// `arguments` as in argv, the program's name and the command included. No side effects. Each throws
// Error(bad_command_line); HelpWanted where --help stands.

LinkRequest parse_link(const std::vector<std::string>& arguments);
BisectionRequest parse_bisection_command(const std::vector<std::string>& arguments);

// Each throws Error(bad_command_line) that names the option, says why it has no effect and what to do.

void validate_options(const IsGiven& is_given, const LinkRequest& request);
void validate_options(const IsGiven& is_given, const BisectionRequest& request);

}  // namespace leadline::cli
