// SPDX-License-Identifier: Apache-2.0
// Shows a topology test while it runs: a line a cell for logs, a bar for terminals.
#pragma once

#include <memory>
#include <vector>

#include "bench/topology/output.hpp"
#include "model/topology_request.hpp"
#include "model/topology_result.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::output {

/// One line a cell: exchange time and chosen rate at the median, time since the beginning, and how long it will still
/// take; units are chosen with the first line of a message size. With --duration one line a slice of load, with what
/// was verified.
std::unique_ptr<bench::topology::Progress> make_topology_lines(const TopologyRequest& request,
                                                               const std::vector<TopologyFacts>& topologies,
                                                               ProgressOutlet outlet);

/// One line that is redrawn, and disappears at the end.
std::unique_ptr<bench::topology::Progress> make_topology_bar(const TopologyRequest& request,
                                                             const std::vector<TopologyFacts>& topologies,
                                                             ProgressOutlet outlet);

}  // namespace leadline::output
