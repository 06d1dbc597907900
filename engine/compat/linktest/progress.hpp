// SPDX-License-Identifier: Apache-2.0
// A run as LinkTest 2.x shows it: results on standard output, monitoring on standard error.
#pragma once

#include <memory>

#include "bench/link/output.hpp"
#include "compat/process.hpp"
#include "model/link_result.hpp"

namespace leadline::compat::linktest {

/// Prints the arguments at once, the rest as it comes.
std::unique_ptr<bench::link::Progress> make_progress(const LinkResult& so_far, Outlet outlet);

}  // namespace leadline::compat::linktest
