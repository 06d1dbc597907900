// SPDX-License-Identifier: Apache-2.0
// `leadline bisection`: from its command line to the ranks, or to the plan that they would follow.
#include <memory>
#include <string>
#include <vector>

#include "bench/bisection/plan.hpp"
#include "cli/bisection_options.hpp"
#include "cli/bisection_run.hpp"
#include "cli/main.hpp"
#include "cli/run_command.hpp"
#include "output/bisection_text.hpp"

namespace leadline::cli {

int bisection_command(const std::vector<std::string>& arguments) {
  BisectionRequest request = parse_bisection_command(arguments);
  if (request.dry_run) {
    return say_plan([&] {
      const DryRunRanks ranks = dry_run_ranks(request);
      return output::bisection_plan_text(request, bench::bisection::plan(request, ranks.rank_layout()));
    });
  }
  return run_ranks(request, "bisection",
                   [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                     return run_bisection(request, std::move(bootstrap), module, own_presentation(request));
                   });
}

}  // namespace leadline::cli
