// SPDX-License-Identifier: Apache-2.0
// A topology test as text for people: its plan, its progress and its summary.
#pragma once

#include <memory>
#include <string>

#include "bench/topology/output.hpp"
#include "bench/topology/plan.hpp"
#include "model/topology_request.hpp"
#include "model/topology_result.hpp"

namespace leadline::output {

/// For standard output, at the end: rates over size by topology; per topology the rates at the largest size with the
/// interval of the median, slowest rank, slowest channel, fairness; with --duration the load over time; findings.
/// `path`: where the result lies, empty = nowhere.
std::string topology_summary(const TopologyResult& result, const std::string& path);

/// On standard error; null with --quiet.
std::unique_ptr<bench::topology::Progress> make_topology_progress(const TopologyRequest& request,
                                                                  const std::vector<TopologyFacts>& topologies);

/// For --dry-run.
std::string topology_plan_text(const TopologyRequest& request, const bench::topology::Plan& plan);

}  // namespace leadline::output
