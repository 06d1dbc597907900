// SPDX-License-Identifier: Apache-2.0
// One rank's run of a topology test, whoever started it and however the result is shown.
#pragma once

#include <memory>

#include "bench/topology/output.hpp"
#include "cli/staged_run.hpp"
#include "cluster/bootstrap.hpp"
#include "model/topology_request.hpp"
#include "model/topology_result.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

using TopologyPresentation = PresentationOf<TopologyResult, bench::topology::Progress>;

/// That of `leadline topology`.
TopologyPresentation own_presentation(const TopologyRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_topology(const TopologyRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                 const transport::LoadedModule& module, const TopologyPresentation& presentation);

}  // namespace leadline::cli
