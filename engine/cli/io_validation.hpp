// SPDX-License-Identifier: Apache-2.0
// Options of a parallel file test that would be ignored in a combination are errors.
#pragma once

#include "cli/run_validation.hpp"
#include "model/io_request.hpp"

namespace leadline::cli {

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_options(const IsGiven& is_given, const IoRequest& request);

/// Likewise, once the backend is chosen: options that it ignores. `backend` is its name in the table.
void validate_backend_options(const IoRequest& request, const std::string& backend);

}  // namespace leadline::cli
