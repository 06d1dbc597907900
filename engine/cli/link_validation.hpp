// SPDX-License-Identifier: Apache-2.0
// Options that would be ignored in a combination are errors.
#pragma once

#include "cli/run_validation.hpp"
#include "model/link_request.hpp"

namespace leadline::cli {

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_options(const IsGiven& is_given, const LinkRequest& request);

}  // namespace leadline::cli
