// SPDX-License-Identifier: Apache-2.0
// `leadline io`: from its command line to the ranks, or to the plan that they would follow.
#include <memory>
#include <string>
#include <vector>

#include "bench/io/plan.hpp"
#include "cli/io_options.hpp"
#include "cli/io_run.hpp"
#include "cli/main.hpp"
#include "cli/run_command.hpp"
#include "output/io_text.hpp"

namespace leadline::cli {

int io_command(const std::vector<std::string>& arguments) {
  IoRequest request = parse_io_command(arguments);
  if (request.dry_run) {
    return say_plan([&] {
      const DryRunRanks ranks = dry_run_ranks(request);
      return output::io_plan_text(request,
                                  bench::io::plan(request, ranks.rank_layout(), dry_run_names(request, ranks)));
    });
  }
  const IoStart start = start_io(request);
  return run_ranks(request, "io",
                   [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                     return run_io(request, std::move(bootstrap), module, start, own_presentation(request));
                   });
}

}  // namespace leadline::cli
