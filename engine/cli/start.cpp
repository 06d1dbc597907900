// SPDX-License-Identifier: Apache-2.0
// Chooses the bootstrap by which the ranks find each other.
#include "cli/start.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/bootstrap.hpp"
#include "cluster/environment.hpp"
#include "core/error.hpp"

namespace leadline::cli {
namespace {

using cluster::Launcher;

/// The module for this launcher's protocol.
const char* bootstrap_of(Launcher launcher) {
  const bool is_pmi2 = launcher == Launcher::mpich || launcher == Launcher::slurm_pmi2;
  return is_pmi2 ? "pmi2" : "pmix";
}

/// What `open` gives; if it cannot, the reason goes to `reasons`.
template <class Open>
auto tried(std::string& reasons, const char* name, const Open& open) -> std::optional<decltype(open())> {
  try {
    return open();
  } catch (const Error& error) {
    reasons +=
        fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name, error.why().empty() ? error.problem() : error.why());
    return std::nullopt;
  }
}

std::unique_ptr<cluster::Bootstrap> bootstrap_by_launcher(Launcher launcher, std::chrono::nanoseconds timeout) {
  std::string reasons;
  const char* name = bootstrap_of(launcher);
  // Only what cannot be loaded leads to the next; what loads and then finds its server gone is an error.
  const auto module = tried(reasons, name, [&] { return &cluster::open_bootstrap_module(name); });
  if (module) return (*module)->start(launcher, timeout);
  const auto mpi = tried(reasons, "mpi", [&] { return transport::open_module("mpi", launcher); });
  if (mpi) return (*mpi)->bootstrap();
  throw Error(ExitStatus::something_missing,
              fmt::format("the ranks cannot find each other under {}", cluster::name_of(launcher)), reasons,
              "Install one of these libraries, build Leadline with its headers, or use the LEADLINE_* variables");
}

}  // namespace

std::unique_ptr<cluster::Bootstrap> launcher_bootstrap(const transport::LoadedModule& module, Launcher launcher,
                                                       std::chrono::nanoseconds timeout) {
  if (launcher == Launcher::environment) return cluster::environment_bootstrap();
  if (launcher == Launcher::linktest) return cluster::linktest_environment_bootstrap();
  if (auto own = module->bootstrap()) return own;
  return bootstrap_by_launcher(launcher, timeout);
}

void refuse_unconnected_ranks() {
  const cluster::UnsupportedLauncher* const launcher = cluster::unsupported_launcher();
  if (launcher == nullptr) return;
  const auto text_of = [](const char* variable) {
    return variable != nullptr ? fmt::format("{} is {}", variable, std::getenv(variable)) : std::string();
  };
  const std::string num_ranks = text_of(launcher->num_ranks);
  throw Error(ExitStatus::something_missing,
              fmt::format("the ranks that {} started cannot find each other", launcher->name),
              text_of(launcher->rank) + (num_ranks.empty() ? "" : ", ") + num_ranks,
              std::string_view(launcher->rank) == "SLURM_PROCID"
                  ? "Use srun --mpi=pmix (also for Open MPI) or srun --mpi=pmi2 (also for MPICH); --local N measures "
                    "this host alone"
                  : "Use mpirun, mpiexec or srun, or the LEADLINE_* variables (docs/how-to/start-it.md); --local N "
                    "measures this host alone");
}

}  // namespace leadline::cli
