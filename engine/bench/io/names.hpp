// SPDX-License-Identifier: Apache-2.0
// Names of files before they are expanded, and whether ranks would find the files that they mean under them.
#pragma once

#include <string>
#include <vector>

#include "bench/io/plan.hpp"

namespace leadline::bench::io {

/// By file, of plan.layout. Throws Error(bad_command_line) that names --target or --targets.
std::vector<std::string> templates_of(const IoRequest& request, const Plan& plan, const Names& names);

/// Where a file lies: "." where its name has no directory.
std::string directory_of(const std::string& path);

}  // namespace leadline::bench::io
