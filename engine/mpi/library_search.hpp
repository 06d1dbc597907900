// SPDX-License-Identifier: Apache-2.0
// The MPI library of a run: that which its launcher belongs to, found when the run starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "core/dynamic_library.hpp"

namespace leadline::mpi {

/// What a program must be compiled for to call a library: sizes and values of handles, constants, statuses.
enum class Abi : std::uint8_t {
  open_mpi,  ///< libmpi.so.40
  mpich,     ///< libmpi.so.12, libmpich.so.12: MPICH since 3.1 and what descends from it, Intel MPI as well
  standard,  ///< libmpi_abi.so.1: that of MPI 5
};

/// "Open MPI", "MPICH", "MPI 5".
const char* name_of(Abi abi);

/// Whether an mpi.h of this ABI was there when the program was built.
bool is_built_for(Abi abi);

/// An open library. It stays in the process to its end, since MPI libraries crash when they are unloaded.
struct Library {
  DynamicLibrary opened;
  std::string path;    ///< where the loader found it
  Abi abi;             ///< as its symbols say
  std::string name;    ///< "Open MPI v4.1.4", "MPICH 4.0.2"
  std::string origin;  ///< what led to it: "LEADLINE_LIBMPI", "beside /usr/bin/orterun", "on the loader's path"
};

/// Whether MPI can be started under it.
bool is_mpi_launcher(cluster::Launcher launcher);

/// Local: the file that LEADLINE_LIBMPI names; else the library beside the program of the launcher that started this
/// process; else that on the loader's path, of the kind that such launchers start. Throws Error(something_missing)
/// where there is none, where it does not belong to the launcher, so that each rank would be alone, and where the
/// program was built without its ABI.
Library find_library(cluster::Launcher launcher);

/// Local: the same without a launcher: that of LEADLINE_LIBMPI where it has this ABI, else that on the loader's path.
Library find_library_of(Abi abi);

/// One line of what MPI_Get_library_version says: "MPICH Version:\t4.0.2\nMPICH Release..." is "MPICH 4.0.2".
std::string short_name(std::string_view version);

/// Local: programs of MPI launchers among the ancestors of this process, the nearest first.
std::vector<std::string> launchers_above();

/// Whether a program of this name starts ranks or forwards them: "mpirun", "orted", "hydra_pmi_proxy".
bool is_launcher_program(std::string_view name);

}  // namespace leadline::mpi
