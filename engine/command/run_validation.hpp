// SPDX-License-Identifier: Apache-2.0
// Shared options that would be ignored in a combination are errors.
#pragma once

#include <functional>
#include <string>

#include "model/request.hpp"

namespace leadline::command {

/// Whether an option ("--fill-seed") stands on the command line.
using IsGiven = std::function<bool(const char* option)>;

bool has_random_contents(const RunRequest& request);

/// Messages of some transports lie in memory of a kind of their own, unless --allocator says where.
void settle_allocator(const IsGiven& is_given, RunRequest& request);

/// Throws Error(bad_command_line) that names the option, says why it has no effect and what to do.
void validate_run_options(const IsGiven& is_given, const RunRequest& request);

/// Contents that cannot be checked byte for byte, as `checker` ("--verify") wants to.
void check_verifiable(const std::string& checker, const RunRequest& request);

/// For benchmarks that SION files cannot hold; `what`: "a topology test".
void refuse_sion(const RunRequest& request, const std::string& what);

}  // namespace leadline::command
