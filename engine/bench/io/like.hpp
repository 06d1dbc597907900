// SPDX-License-Identifier: Apache-2.0
// The numbers of a parallel file test as another benchmark would print them.
#pragma once

#include <string>

#include "bench/io/result.hpp"
#include "command/run_validation.hpp"

namespace leadline::bench::io {

/// Throws Error(bad_command_line) where the other program has no such phases.
void check_like(const command::IsGiven& is_given, const IoRequest& request);

/// The other program's table, in its units and columns, with "-" for what is not known by its definition; then the
/// greatest rate of each operation, and its numbers over the repetitions. Empty without --like, and where no phase is
/// complete.
std::string like_text(const IoResult& result);

}  // namespace leadline::bench::io
