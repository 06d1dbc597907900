// SPDX-License-Identifier: Apache-2.0
// The lines that NETTEST prints, each a pure function of what is in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/topology/output.hpp"
#include "bench/topology/result.hpp"
#include "compat/nettest/options.hpp"
#include "compat/process.hpp"

namespace leadline::compat::nettest {

// Columns stand at tab stops of 8. "MB/sec" is NETTEST's word for MiB/s, kept for those who read it.

/// What stands above a run: its parameters, the processes' hosts in the order of ranks, and the titles of the table.
std::string heading(const Lengths& lengths, const bench::topology::TopologyResult& so_far);

/// One length of one repeat: its cells in the order of the columns.
std::string row(const Lengths& lengths, const bench::topology::TopologyResult& so_far,
                const std::vector<bench::topology::CellSummary>& cells);

/// What stands below the table: how long it took, and the best of each column.
std::string ending(const bench::topology::TopologyResult& result, double elapsed_s);

/// Prints the heading at once, and a line of the table as soon as its last cell is measured. `elapsed_s`, which
/// outlives it, then holds how long all so far has taken.
std::unique_ptr<bench::topology::Progress> make_progress(bench::topology::TopologyResult so_far, const Lengths& lengths,
                                                         Outlet outlet, double& elapsed_s);

}  // namespace leadline::compat::nettest
