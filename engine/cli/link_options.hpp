// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline link`, declared once: parsing and help follow from it.
#pragma once

#include <string>
#include <vector>

#include "cli/option_parser.hpp"
#include "model/link_request.hpp"

namespace leadline::cli {

/// `arguments` as in argv, the program's name and the command included. No side effects.
/// Throws Error(bad_command_line); HelpWanted where --help stands.
LinkRequest parse_link(const std::vector<std::string>& arguments);

}  // namespace leadline::cli
