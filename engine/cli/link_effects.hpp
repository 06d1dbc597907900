// SPDX-License-Identifier: Apache-2.0
// Options that would be ignored in a combination are errors, so that nobody believes them.
#pragma once

#include <functional>

#include "model/request.hpp"

namespace leadline::cli {

/// Whether an option ("--seed") stands on the command line.
using IsGiven = std::function<bool(const char* option)>;

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void check_effects(const IsGiven& is_given, const LinkRequest& request);

}  // namespace leadline::cli
