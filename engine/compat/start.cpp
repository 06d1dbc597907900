// SPDX-License-Identifier: Apache-2.0
// Finds the ranks by launcher or variables; starts none.
#include "compat/start.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>

#include "cli/start.hpp"
#include "cluster/launcher.hpp"
#include "core/error.hpp"

namespace leadline::compat {

using cluster::FrontEnd;
using cluster::Launcher;

namespace {

/// MPI knows its ranks by itself, whatever variables an old job script has left.
Launcher launcher_of(const RunRequest& request) {
  const std::string transport = transport::parse_choice(request.transport).name;
  return cluster::detect_launcher(transport == "mpi" ? FrontEnd::leadline : FrontEnd::linktest);
}

}  // namespace

void need_launcher(const RunRequest& request, const HowToStart& how) {
  if (launcher_of(request) != Launcher::none) return;
  cli::refuse_unconnected_slurm_tasks();
  throw Error(ExitStatus::something_missing, fmt::format("nothing has started the ranks of {}", how.program),
              "there is no sign of a launcher",
              fmt::format("Start it with {}. \"{}\" starts local ranks by itself", how.example, how.own_command));
}

Start started_ranks(const RunRequest& request, const HowToStart& how) {
  need_launcher(request, how);
  const std::string transport = transport::parse_choice(request.transport).name;
  const Launcher launcher = launcher_of(request);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of the file size is then an error of a write, and not the rank's death
  transport::LoadedModule module = transport::open_module(transport, launcher);
  const auto timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(request.timeout_s));
  auto bootstrap = cli::launcher_bootstrap(module, launcher, timeout);
  return {std::move(module), std::move(bootstrap)};
}

}  // namespace leadline::compat
