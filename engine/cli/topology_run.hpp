// SPDX-License-Identifier: Apache-2.0
// One rank's way through a topology test, whoever started it and however the result is shown.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/topology/output.hpp"
#include "cluster/bootstrap.hpp"
#include "model/topology_request.hpp"
#include "model/topology_result.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

/// The texts of one front end. All members may be empty.
struct TopologyPresentation {
  /// Rank 0, once everything that is known before the first message is in `so_far`: request, provenance, topologies,
  /// hosts. May throw Error, on which all ranks agree: a front end's own file cannot be made.
  std::function<std::unique_ptr<bench::topology::Progress>(const TopologyResult& so_far)> progress;

  /// Rank 0, at the end: the text for standard output.
  std::function<std::string(const TopologyResult& result, const std::string& path)> summary;
};

/// That of `leadline topology`.
TopologyPresentation own_presentation(const TopologyRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_topology(const TopologyRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                 const transport::LoadedModule& module, const TopologyPresentation& presentation);

}  // namespace leadline::cli
