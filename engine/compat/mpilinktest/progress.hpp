// SPDX-License-Identifier: Apache-2.0
// A run as LinkTest 1.2 shows it on standard output.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/link/output.hpp"
#include "compat/process.hpp"
#include "model/result.hpp"

namespace leadline::compat::mpilinktest {

/// Pairs that the tournament of so many ranks plays at once; a serial test has them one after the other.
int pairs_of_a_step(int num_ranks);

/// Prints the arguments at once, the rest as it comes; a running summary after every `summary_interval` steps.
std::unique_ptr<bench::link::Progress> make_progress(const LinkResult& so_far, std::uint64_t summary_interval,
                                                     Outlet outlet);

}  // namespace leadline::compat::mpilinktest
