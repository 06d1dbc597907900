// SPDX-License-Identifier: Apache-2.0
// MPI-IO of a library of the ABI that this is compiled for. The transport mpi starts and ends it.
#include <array>
#include <cstdlib>
#include <exception>

#include "core/error.hpp"
#include "storage/mpi_io/choice.hpp"
#include "storage/mpi_io/library.hpp"
#include "storage/mpi_io/mpi_io.hpp"
#include "storage/storage.hpp"
#include "storage/try_out.hpp"

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {
namespace {

/// So that Open MPI starts without a launcher and leaves nothing behind when it crashes: no daemon, no folder, no
/// network, nothing printed.
void prepare_to_be_alone() {
#ifdef OPEN_MPI
  constexpr std::array<std::array<const char*, 2>, 7> settings{{{"OMPI_MCA_ess_singleton_isolated", "1"},
                                                                {"OMPI_MCA_orte_create_session_dirs", "0"},
                                                                {"OMPI_MCA_pml", "ob1"},
                                                                {"OMPI_MCA_btl", "self"},
                                                                {"OMPI_MCA_opal_signal", ""},
                                                                {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                                                {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}};
  for (const auto& [name, value] : settings) ::setenv(name, value, 1);
#endif
}

std::string try_calls(const CallKind& kind, const std::string& scratch_path) {
  if (is_running()) return "MPI runs already, and cannot be started again in a process that shares its memory";
  prepare_to_be_alone();
  if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return library_name() + " cannot be started without a launcher";
  try {
    MpiIo backend;
    return try_calls_of(backend, kind, scratch_path);
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::unique_ptr<Backend> make(const Context& context) {
  if (!is_running()) {
    throw Error(ExitStatus::something_missing, "--backend mpi-io needs --transport mpi",
                library_name() + " is not running in this process", "Use --transport mpi, or --backend posix");
  }
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size != context.size || rank != context.rank) {
    throw Error(ExitStatus::something_missing, "--backend mpi-io needs all ranks of MPI, in their order",
                "this is rank " + std::to_string(context.rank) + " of " + std::to_string(context.size) + ", and rank " +
                    std::to_string(rank) + " of " + std::to_string(size) + " to MPI");
  }
  return std::make_unique<MpiIo>();
}

}  // namespace

extern constexpr Module module{.take_mpi = &take_functions, .prepare = &choose, .try_calls = &try_calls, .make = &make};

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
