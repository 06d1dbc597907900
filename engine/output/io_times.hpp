// SPDX-License-Identifier: Apache-2.0
// What ranks of a parallel file test did with their time, how long calls took, and how the throughput went.
#pragma once

#include <string>

#include "model/io_result.hpp"

namespace leadline::output {

/// For each operation a table: least, mean and greatest time of ranks by what they did.
std::string io_times_text(const IoResult& result);

/// Percentiles of calls, an operation a line.
std::string io_latencies_text(const IoResult& result);

/// "[.:=++##=.]" for each operation, with the height of the bar.
std::string io_throughput_text(const IoResult& result);

}  // namespace leadline::output
