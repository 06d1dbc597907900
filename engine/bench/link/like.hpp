// SPDX-License-Identifier: Apache-2.0
// Runs that measure as other benchmarks do: what they set, and the numbers that the other program would print.
#pragma once

#include <string>

#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "command/run_validation.hpp"

namespace leadline::bench::link {

/// Sets what --like means for every option that was not given.
void settle_like(const command::IsGiven& is_given, LinkRequest& request);

/// Throws Error(bad_command_line) for options that leave nothing of what the other program measures.
void check_like(const command::IsGiven& is_given, const LinkRequest& request);

/// "--window 32, --messages 100": what of the request the other program does in another way; empty = nothing.
std::string differences_from_like(const LinkRequest& request);

/// The other program's table, in its units and columns, with the mean over all pairs and repeats; where there are more
/// pairs than two ranks make, with the extremes, too. Empty without --like.
std::string like_text(const LinkResult& result);

}  // namespace leadline::bench::link
