// SPDX-License-Identifier: Apache-2.0
// A run as Netgauge shows it, round by round.
#pragma once

#include <memory>

#include "bench/bisection/output.hpp"
#include "compat/netgauge/options.hpp"
#include "compat/process.hpp"
#include "model/bisection_result.hpp"

namespace leadline::compat::netgauge {

/// Prints what stands above all rounds at once, and each round as soon as it is measured.
std::unique_ptr<bench::bisection::Progress> make_progress(const BisectionResult& so_far, Shown shown, Outlet outlet);

}  // namespace leadline::compat::netgauge
