// SPDX-License-Identifier: Apache-2.0
// `leadline check`: which node is to be taken out of service?
#pragma once

#include <string>
#include <vector>

#include "check/request.hpp"

namespace leadline::check {

/// No side effects. `arguments` as in argv. Throws Error(bad_command_line); HelpWanted where --help stands.
CheckRequest parse_check(const std::vector<std::string>& arguments);

/// The exit status.
int check_command(const std::vector<std::string>& arguments);

}  // namespace leadline::check
