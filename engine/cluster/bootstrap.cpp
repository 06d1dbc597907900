// SPDX-License-Identifier: Apache-2.0
// What a bootstrap does by default, and which launcher has started this process.
#include "cluster/bootstrap.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cluster/environment.hpp"
#include "cluster/host_agent.hpp"
#include "cluster/rank0_bootstrap.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

bool has(const char* variable) { return std::getenv(variable) != nullptr; }

// Inside a job step first: a batch script has the other variables of Slurm, too.
constexpr UnsupportedLauncher unsupported_launchers[] = {
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS"},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PALS", "PALS_RANKID", nullptr},
    {"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"ALPS", "ALPS_APP_PE", nullptr},
    {"Horovod", "HOROVOD_RANK", "HOROVOD_SIZE"},
    {"Platform MPI", "MPI_RANKID", nullptr},
};

/// The launcher's own rank variable; null where it has none.
const char* rank_variable(Launcher launcher) {
  switch (launcher) {
    case Launcher::none: {
      const UnsupportedLauncher* const unsupported = unsupported_launcher();
      return unsupported != nullptr ? unsupported->rank : nullptr;
    }
    case Launcher::hosts:
      return host_rank_variable;
    case Launcher::environment:
      return has_own_variables() ? "LEADLINE_RANK" : "RANK";
    case Launcher::linktest:
      return "LINKTEST_TCP_RANK";
    case Launcher::open_mpi:
      return "OMPI_COMM_WORLD_RANK";
    case Launcher::mpich:
    case Launcher::slurm_pmi2:
      return "PMI_RANK";
    case Launcher::slurm_pmix:
    case Launcher::pmix:
      return "PMIX_RANK";
    case Launcher::slurm_step:
      return "SLURM_PROCID";
  }
  return nullptr;
}

}  // namespace

std::string Bootstrap::all_gather(const std::string&) {
  throw std::logic_error("a bootstrap without a membership has to gather");
}

Launcher detect_launcher(FrontEnd front_end) {
  if (is_rank_on_host()) return Launcher::hosts;
  if (front_end == FrontEnd::linktest && has_linktest_variables()) return Launcher::linktest;
  if (has_own_variables()) return Launcher::environment;
  if (has("OMPI_COMM_WORLD_SIZE")) return Launcher::open_mpi;
  // Hydra starts its processes through srun inside an allocation, so Slurm's variables prove nothing yet.
  if (has("HYDI_CONTROL_FD") || (has("PMI_SIZE") && has("MPI_LOCALNRANKS"))) return Launcher::mpich;
  const bool is_slurm = has("SLURM_PROCID");
  if (has("PMIX_RANK")) return is_slurm ? Launcher::slurm_pmix : Launcher::pmix;
  if (has("PMI_RANK")) return is_slurm ? Launcher::slurm_pmi2 : Launcher::mpich;
  if (has_torchrun_variables()) return Launcher::environment;  // torchrun may be the task of a step
  if (has_slurm_step()) return Launcher::slurm_step;
  return Launcher::none;
}

const char* name_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::none:
      return "none";
    case Launcher::hosts:
      return "Leadline (--hosts)";
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
    case Launcher::slurm_step:
      return "Slurm";
  }
  return "none";
}

const UnsupportedLauncher* unsupported_launcher() {
  const UnsupportedLauncher* with_rank_alone = nullptr;
  for (const UnsupportedLauncher& one : unsupported_launchers) {
    if (!has(one.rank)) continue;
    const char* const num_ranks = one.num_ranks != nullptr ? std::getenv(one.num_ranks) : nullptr;
    if (num_ranks != nullptr) return std::string_view(num_ranks) == "1" ? nullptr : &one;
    if (with_rank_alone == nullptr) with_rank_alone = &one;
  }
  return with_rank_alone;
}

int rank_hint(FrontEnd front_end) {
  const char* const variable = rank_variable(detect_launcher(front_end));
  const char* const text = variable != nullptr ? std::getenv(variable) : nullptr;
  return text != nullptr ? std::atoi(text) : 0;
}

bool speaks_before_joining(FrontEnd front_end) {
  const Launcher launcher = detect_launcher(front_end);
  return launcher == Launcher::hosts || launcher == Launcher::environment || launcher == Launcher::linktest ||
         rank_hint(front_end) == 0;
}

}  // namespace leadline::cluster
