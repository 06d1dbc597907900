// SPDX-License-Identifier: Apache-2.0
// Which variables a child that is to be on its own loses, and which it keeps.
#include "storage/launcher_variables.hpp"

#include <gtest/gtest.h>

namespace leadline::storage {
namespace {

TEST(LauncherVariables, AreKnownByTheirBeginnings) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "OMPI_UNIVERSE_SIZE", "OMPI_MCA_ess", "OMPI_MCA_ess_base_jobid",
        "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_pmix", "PMIX_RANK", "PMIX_MCA_mca_base_component_show_load_errors", "PMI_FD",
        "PMI_RANK", "PMI2_MAPPING", "HYDI_CONTROL_FD", "MPI_LOCALNRANKS", "SLURM_PROCID", "SLURM_JOB_ID", "PALS_RANKID",
        "FLUX_KVS_NAMESPACE"}) {
    EXPECT_TRUE(is_of_launcher(name)) << name;
  }
}

TEST(LauncherVariables, AreNotTheSettingsOfUsers) {
  for (const char* name :
       {"OMPI_MCA_io", "OMPI_MCA_fbtl_posix_read_datasieving", "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "ROMIO_HINTS", "MPIR_CVAR_ENABLE_GPU", "MPICH_VERSION_DISPLAY", "SLURM_CONF",
        "PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR", "MPIEXEC", ""}) {
    EXPECT_FALSE(is_of_launcher(name)) << name;
  }
}

}  // namespace
}  // namespace leadline::storage
