// SPDX-License-Identifier: Apache-2.0
// A run as LinkTest 1.2 shows it on standard output.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/link/output.hpp"
#include "compat/process.hpp"
#include "model/link_result.hpp"

namespace leadline::compat::mpilinktest {

/// Prints the arguments at once, the rest as it comes; a running summary after every `summary_interval` steps.
std::unique_ptr<bench::link::Progress> make_progress(const LinkResult& so_far, std::uint64_t summary_interval,
                                                     Outlet outlet);

}  // namespace leadline::compat::mpilinktest
