// SPDX-License-Identifier: Apache-2.0
// A run as NETTEST shows it, line by line.
#pragma once

#include <memory>

#include "bench/topology/output.hpp"
#include "compat/nettest/options.hpp"
#include "compat/process.hpp"
#include "model/topology_result.hpp"

namespace leadline::compat::nettest {

/// Prints the heading at once, and a line of the table as soon as its last cell is measured. `elapsed_s`, which
/// outlives it, then holds how long all so far has taken.
std::unique_ptr<bench::topology::Progress> make_progress(TopologyResult so_far, const Lengths& lengths, Outlet outlet,
                                                         double& elapsed_s);

}  // namespace leadline::compat::nettest
