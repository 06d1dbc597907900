// SPDX-License-Identifier: Apache-2.0
// What `leadline compare` takes of a result of this benchmark.
#pragma once

#include <string>

#include "diagnosis/compare_runs.hpp"

namespace leadline::bench::bisection {

/// Throws as the reader does; bad_command_line for a result without a summary.
diagnosis::RunNumbers numbers_of(const std::string& path);

}  // namespace leadline::bench::bisection
