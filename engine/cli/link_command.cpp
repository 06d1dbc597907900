// SPDX-License-Identifier: Apache-2.0
// `leadline link`: decides who starts the ranks and which transport they use, then lets each go its way.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "bench/link/plan.hpp"
#include "cli/commands.hpp"
#include "cli/link_options.hpp"
#include "cli/link_run.hpp"
#include "cli/standard_streams.hpp"
#include "cli/start.hpp"
#include "cluster/launcher.hpp"
#include "cluster/local.hpp"
#include "cluster/place.hpp"
#include "core/error.hpp"
#include "output/plan_text.hpp"
#include "result/result_file.hpp"
#include "transport/module.hpp"

namespace leadline::cli {
namespace {

using cluster::Launcher;

int num_local_ranks(const LinkRequest& request) {
  return request.num_local > 0 ? request.num_local : std::max(2, cluster::usable_cores());
}

bool is_mpi_launcher(Launcher launcher) { return launcher != Launcher::none && launcher != Launcher::environment; }

std::chrono::nanoseconds timeout_of(const LinkRequest& request) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(request.timeout_s));
}

std::string default_output(ResultFormat format) {
  return format == ResultFormat::json ? "-" : result::default_file_name(format, std::time(nullptr));
}

int print_plan(const LinkRequest& request) {
  const int num_ranks = request.dry_run_ranks > 0 ? request.dry_run_ranks : num_local_ranks(request);
  const int on_each =
      request.dry_run_ranks_per_host > 0 ? std::min(request.dry_run_ranks_per_host, num_ranks) : num_ranks;
  std::vector<std::uint32_t> host_of(static_cast<std::size_t>(num_ranks));
  for (int rank = 0; rank < num_ranks; ++rank) {
    host_of[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(rank / on_each);
  }
  const bench::link::Plan plan = bench::link::plan(request, {num_ranks, on_each, host_of});
  say(output::plan_text(request, plan));
  return 0;
}

}  // namespace

int link_command(const std::vector<std::string>& arguments) {
  LinkRequest request = parse_link(arguments);
  const Launcher launcher = cluster::detect_launcher();
  if (request.dry_run) return cluster::rank_hint() == 0 ? print_plan(request) : 0;
  if (launcher != Launcher::none && request.num_local > 0) {
    throw Error(ExitStatus::bad_command_line, "--local has no effect here", "a launcher started the ranks",
                "Leave it out");
  }
  if (request.output.empty()) request.output = default_output(request.format);
  if (request.transport.empty()) request.transport = is_mpi_launcher(launcher) ? "mpi" : "tcp";
  const transport::LoadedModule module = transport::open_module(transport::parse_choice(request.transport).name);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of the file size is then an error of a write, and not the rank's death

  const Presentation presentation = own_presentation(request);
  if (launcher != Launcher::none) {
    return run_link(request, launcher_bootstrap(module, launcher, timeout_of(request)), module, presentation);
  }
  refuse_strangers_of_a_step();
  return cluster::launch_local(num_local_ranks(request), [&](std::unique_ptr<cluster::Bootstrap> bootstrap) {
    return run_link(request, std::move(bootstrap), module, presentation);
  });
}

}  // namespace leadline::cli
