// SPDX-License-Identifier: Apache-2.0
// Names of MPI libraries and of launchers' programs; what a run says where there is no library to take.
#include "mpi/library_search.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "core/error.hpp"

namespace leadline::mpi {
namespace {

using testing::HasSubstr;

TEST(ShortName, IsOneLineWithoutWhatStandsBehindTheVersion) {
  EXPECT_EQ(short_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "Open MPI v4.1.4");
  EXPECT_EQ(short_name("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7\n"), "MPICH 4.0.2");
  EXPECT_EQ(short_name("MPICH Version:      5.0.2\n"), "MPICH 5.0.2");
  EXPECT_EQ(short_name(""), "");
}

TEST(LauncherPrograms, AreThoseThatStartRanksOrForwardThem) {
  for (const char* name : {"mpirun", "mpiexec.hydra", "orterun", "orted", "prterun", "prted", "hydra_pmi_proxy"}) {
    EXPECT_TRUE(is_launcher_program(name)) << name;
  }
  for (const char* name : {"bash", "srun", "slurmstepd", "leadline", "python3.11", ""}) {
    EXPECT_FALSE(is_launcher_program(name)) << name;
  }
}

TEST(LibrarySearch, KnowsLaunchersThatStartMpi) {
  using cluster::Launcher;
  for (const Launcher one : {Launcher::open_mpi, Launcher::mpich, Launcher::pmix, Launcher::slurm_pmi2}) {
    EXPECT_TRUE(is_mpi_launcher(one));
  }
  for (const Launcher one : {Launcher::none, Launcher::environment, Launcher::linktest}) {
    EXPECT_FALSE(is_mpi_launcher(one));
  }
}

TEST(LibrarySearch, RefusesAFileThatIsNoLibraryOfMpi) {
  for (const char* file : {"/nowhere/libmpi.so", "/proc/self/exe"}) {
    setenv("LEADLINE_LIBMPI", file, 1);
    try {
      find_library(cluster::Launcher::slurm_pmi2);
      ADD_FAILURE() << file << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::something_missing);
      EXPECT_THAT(error.problem(), HasSubstr("LEADLINE_LIBMPI"));
      EXPECT_THAT(error.why(), HasSubstr(file));
    }
  }
  unsetenv("LEADLINE_LIBMPI");
}

}  // namespace
}  // namespace leadline::mpi
