// SPDX-License-Identifier: Apache-2.0
// What started this process, as its environment tells it.
#pragma once

#include <cstdint>

namespace leadline::cluster {

enum class Launcher : std::uint8_t {
  none,         ///< nothing: a shell
  environment,  ///< the LEADLINE_* variables
  linktest,     ///< the LINKTEST_TCP_* variables
  open_mpi,     ///< mpirun of Open MPI
  mpich,        ///< mpiexec of MPICH (Hydra)
  slurm_pmix,   ///< srun --mpi=pmix
  slurm_pmi2,   ///< srun --mpi=pmi2
  pmix,         ///< another launcher with PMIx
};

/// Whose variables count beside the launchers' own.
enum class FrontEnd : std::uint8_t {
  leadline,
  linktest,  ///< the LINKTEST_TCP_* ones too, which go before all others
};

Launcher detect_launcher(FrontEnd front_end = FrontEnd::leadline);

/// For people: "Open MPI mpirun", "Slurm (pmix)" ...
const char* name_of(Launcher launcher);

/// This process's rank as its launcher says; 0 if it says nothing.
int rank_hint(FrontEnd front_end = FrontEnd::leadline);

/// Whether this process should print an error that comes up before the ranks can agree on one: under a launcher
/// with one terminal rank 0 reports for all; each of the ranks that were started one by one reports for itself.
bool speaks_before_joining(FrontEnd front_end = FrontEnd::leadline);

}  // namespace leadline::cluster
