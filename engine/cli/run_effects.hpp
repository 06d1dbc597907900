// SPDX-License-Identifier: Apache-2.0
// Shared options that would be ignored in a combination are errors, so that nobody believes them.
#pragma once

#include <functional>
#include <string>

#include "model/request.hpp"

namespace leadline::cli {

/// Whether an option ("--fill-seed") stands on the command line.
using IsGiven = std::function<bool(const char* option)>;

/// "OPTION has no effect here (WHY). Leave it out"
[[noreturn]] void throw_no_effect(const std::string& option, const std::string& why);

bool has_random_contents(const RunRequest& request);

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void check_run_effects(const IsGiven& is_given, const RunRequest& request);

}  // namespace leadline::cli
