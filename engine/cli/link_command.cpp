// SPDX-License-Identifier: Apache-2.0
// `leadline link`: from its command line to the ranks, or to the plan that they would follow.
#include <memory>
#include <string>
#include <vector>

#include "bench/link/plan.hpp"
#include "cli/link_options.hpp"
#include "cli/link_run.hpp"
#include "cli/main.hpp"
#include "cli/run_command.hpp"
#include "output/plan_text.hpp"

namespace leadline::cli {

int link_command(const std::vector<std::string>& arguments) {
  LinkRequest request = parse_link(arguments);
  if (request.dry_run) {
    return say_plan([&] {
      const DryRunRanks ranks = dry_run_ranks(request);
      return output::plan_text(request, bench::link::plan(request, ranks.rank_layout()));
    });
  }
  return run_ranks(request, "link",
                   [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                     return run_link(request, std::move(bootstrap), module, own_presentation(request));
                   });
}

}  // namespace leadline::cli
