// SPDX-License-Identifier: Apache-2.0
// Communicators of the openers of files: made once, used for every file that the same ranks open.
#include "storage/mpi_io/communicators.hpp"

#include "core/error.hpp"
#include "storage/mpi_io/library.hpp"

namespace leadline::storage::mpi_io {

Communicators::~Communicators() {
  if (!is_running()) return;
  for (auto& [openers, comm] : made_) MPI_Comm_free(&comm);
}

MPI_Comm Communicators::of(std::span<const std::int32_t> openers) {
  if (openers.size() <= 1) return MPI_COMM_SELF;
  std::vector<std::int32_t> key(openers.begin(), openers.end());
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  const std::vector<int> ranks(openers.begin(), openers.end());
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  const int code = MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  if (code != MPI_SUCCESS) {
    throw Error(ExitStatus::run_failed, "MPI cannot make a communicator of those who open a file", words_of(code));
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  made_.emplace(std::move(key), comm);
  return comm;
}

}  // namespace leadline::storage::mpi_io
