// SPDX-License-Identifier: Apache-2.0
// Writes a result that one file has into a new file of either format.
#pragma once

#include <string>
#include <vector>

#include "bench/link/file.hpp"
#include "bench/link/reader.hpp"

namespace leadline::bench::link {

/// What the new file does not have, in words ("the names of 3 ranks beyond 64 characters"); empty = nothing is lost.
using LeftOut = std::vector<std::string>;

// Both write to `path`, where nothing lies, in one process: row by row, memory O(ranks). What was a hole stays one.
// They throw what the reader throws, and Error(run_failed) naming `path`.

LeftOut write_hdf5(ResultReader& input, const std::string& path);

/// `name`: what the file will be called, for the file to say. Throws Error(bad_command_line) for numbers that
/// LinkTest's record cannot hold.
LeftOut write_sion(ResultReader& input, const std::string& path, SionRecord record, const std::string& name);

}  // namespace leadline::bench::link
