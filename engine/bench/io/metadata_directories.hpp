// SPDX-License-Identifier: Apache-2.0
// The directories that hold the items of metadata phases: made before them, and removed at the end.
#pragma once

#include <string>

#include "bench/io/measure.hpp"

namespace leadline::bench::io {

/// Collective: makes the directory of each file of the layout, which must not be there. Throws AgreedError: run_failed,
/// something_missing where hosts that share one do not see the same; then none is left.
void make_directories(const Stage& stage);

/// Local: a directory that make_directories() has made, with what ranks have left in it. Throws Error(run_failed).
void remove_tree(const Stage& stage, const std::string& directory);

}  // namespace leadline::bench::io
