// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline io`, declared once: parsing and help follow from it.
#pragma once

#include <string>
#include <vector>

#include "cli/option_parser.hpp"
#include "model/io_request.hpp"

namespace leadline::cli {

/// `arguments` as in argv, the program's name and the command included. No side effects.
/// Throws Error(bad_command_line); HelpWanted where --help stands.
IoRequest parse_io_command(const std::vector<std::string>& arguments);

}  // namespace leadline::cli
