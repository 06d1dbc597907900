// SPDX-License-Identifier: Apache-2.0
// `leadline topology`: from its command line to the ranks, or to the plan that they would follow.
#include <memory>
#include <string>
#include <vector>

#include "bench/topology/plan.hpp"
#include "cli/main.hpp"
#include "cli/run_command.hpp"
#include "cli/text_file.hpp"
#include "cli/topology_options.hpp"
#include "cli/topology_run.hpp"
#include "output/topology_text.hpp"

namespace leadline::cli {

int topology_command(const std::vector<std::string>& arguments) {
  TopologyRequest request = parse_topology_command(arguments);
  if (request.dry_run) {
    return say_plan([&] {
      const DryRunRanks ranks = dry_run_ranks(request);
      const std::string edges = read_edges_file(request.edges_file);
      return output::topology_plan_text(request, bench::topology::plan(request, ranks.rank_layout(), edges));
    });
  }
  return run_ranks(request, "topology",
                   [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                     return run_topology(request, std::move(bootstrap), module, own_presentation(request));
                   });
}

}  // namespace leadline::cli
