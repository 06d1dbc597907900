// SPDX-License-Identifier: Apache-2.0
// What a bootstrap does by default, and opening of the modules that carry bootstraps.
#include "cluster/bootstrap.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cluster/environment.hpp"
#include "core/dynamic_library.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

bool has(const char* variable) { return std::getenv(variable) != nullptr; }

}  // namespace

std::string Bootstrap::all_gather(const std::string&) {
  throw std::logic_error("a bootstrap without a membership has to gather");
}

const BootstrapModule& open_bootstrap_module(std::string_view name) {
  // Linked so that closing it leaves it in the process.
  const DynamicLibrary library((module_directory() / ("leadline_bootstrap_" + std::string(name) + ".so")).string());
  const auto* module = library.function<const BootstrapModule*()>(bootstrap_module_symbol)();
  if (module == nullptr) throw Error(ExitStatus::something_missing, library.path() + " offers no bootstrap");
  return *module;
}

Launcher detect_launcher(FrontEnd front_end) {
  if (front_end == FrontEnd::linktest && has_linktest_variables()) return Launcher::linktest;
  if (has("LEADLINE_RANK")) return Launcher::environment;
  if (has("OMPI_COMM_WORLD_SIZE")) return Launcher::open_mpi;
  // Hydra starts its processes through srun inside an allocation, so Slurm's variables prove nothing yet.
  if (has("HYDI_CONTROL_FD") || (has("PMI_SIZE") && has("MPI_LOCALNRANKS"))) return Launcher::mpich;
  const bool is_slurm = has("SLURM_PROCID");
  if (has("PMIX_RANK")) return is_slurm ? Launcher::slurm_pmix : Launcher::pmix;
  if (has("PMI_RANK")) return is_slurm ? Launcher::slurm_pmi2 : Launcher::mpich;
  return Launcher::none;
}

const char* name_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::none:
      return "none";
    case Launcher::environment:
      return "environment";
    case Launcher::linktest:
      return "environment (LINKTEST_TCP_*)";
    case Launcher::open_mpi:
      return "Open MPI mpirun";
    case Launcher::mpich:
      return "MPICH Hydra";
    case Launcher::slurm_pmix:
      return "Slurm (pmix)";
    case Launcher::slurm_pmi2:
      return "Slurm (pmi2)";
    case Launcher::pmix:
      return "PMIx";
  }
  return "none";
}

int rank_hint(FrontEnd front_end) {
  const char* text = nullptr;
  switch (detect_launcher(front_end)) {
    case Launcher::none:
      if (has("SLURM_STEP_ID")) text = std::getenv("SLURM_PROCID");  // a step without PMI has ranks all the same
      break;
    case Launcher::environment:
      text = std::getenv("LEADLINE_RANK");
      break;
    case Launcher::linktest:
      text = std::getenv("LINKTEST_TCP_RANK");
      break;
    case Launcher::open_mpi:
      text = std::getenv("OMPI_COMM_WORLD_RANK");
      break;
    case Launcher::mpich:
    case Launcher::slurm_pmi2:
      text = std::getenv("PMI_RANK");
      break;
    case Launcher::slurm_pmix:
    case Launcher::pmix:
      text = std::getenv("PMIX_RANK");
      break;
  }
  return text != nullptr ? std::atoi(text) : 0;
}

bool speaks_before_joining(FrontEnd front_end) {
  const Launcher launcher = detect_launcher(front_end);
  return launcher == Launcher::environment || launcher == Launcher::linktest || rank_hint(front_end) == 0;
}

}  // namespace leadline::cluster
