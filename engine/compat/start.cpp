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

Start started_ranks(const RunRequest& request, const HowToStart& how) {
  const std::string transport = transport::parse_choice(request.transport).name;
  // MPI knows its ranks by itself, whatever variables an old job script has left.
  const Launcher launcher = cluster::detect_launcher(transport == "mpi" ? FrontEnd::leadline : FrontEnd::linktest);
  if (launcher == Launcher::none) {
    cli::refuse_strangers_of_a_step();
    throw Error(ExitStatus::something_missing, fmt::format("nothing has started the ranks of {}", how.program),
                "there is no sign of a launcher",
                fmt::format("Start it with {}. \"{}\" starts local ranks by itself", how.example, how.own_command));
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of the file size is then an error of a write, and not the rank's death
  transport::LoadedModule module = transport::open_module(transport, launcher);
  const auto timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(request.timeout_s));
  auto bootstrap = cli::launcher_bootstrap(module, launcher, timeout);
  return {std::move(module), std::move(bootstrap)};
}

}  // namespace leadline::compat
