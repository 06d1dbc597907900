// SPDX-License-Identifier: Apache-2.0
// One call of the library for each operation, on a communicator of the group.
#include "transport/mpi/mpi_collectives.hpp"

#include <cstddef>
#include <exception>

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

MpiCollectives::MpiCollectives(MPI_Comm all, std::span<const std::int32_t> group, ProgressCounter& progress_counter)
    : comm_(all), progress_counter_(progress_counter) {
  int size = 0;
  MPI_Comm_size(all, &size);
  if (group.size() == static_cast<std::size_t>(size)) return;
  MPI_Group of_all = MPI_GROUP_NULL, of_some = MPI_GROUP_NULL;
  MPI_Comm_group(all, &of_all);
  MPI_Group_incl(of_all, static_cast<int>(group.size()), group.data(), &of_some);
  MPI_Comm_create_group(all, of_some, 0, &comm_);
  is_own_ = true;
  MPI_Group_free(&of_some);
  MPI_Group_free(&of_all);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(all, &handler);
  MPI_Comm_set_errhandler(comm_, handler);
  MPI_Errhandler_free(&handler);
}

MpiCollectives::~MpiCollectives() {
  if (is_own_ && std::uncaught_exceptions() == 0) MPI_Comm_free(&comm_);
}

void MpiCollectives::run(const CollectiveCall& call, std::uint64_t num) {
  const int count = static_cast<int>(call.num_elements);
  const auto repeat = [&](const auto& operation) {
    for (std::uint64_t i = 0; i < num; ++i) {
      operation();
      progress_counter_.advance();
    }
  };
  switch (call.operation) {
    case Collective::allreduce:
      return repeat([&] { MPI_Allreduce(call.send, call.receive, count, MPI_FLOAT, MPI_SUM, comm_); });
    case Collective::allgather:
      return repeat([&] { MPI_Allgather(call.send, count, MPI_FLOAT, call.receive, count, MPI_FLOAT, comm_); });
    case Collective::reduce_scatter:
      return repeat([&] { MPI_Reduce_scatter_block(call.send, call.receive, count, MPI_FLOAT, MPI_SUM, comm_); });
    case Collective::alltoall:
      return repeat([&] { MPI_Alltoall(call.send, count, MPI_FLOAT, call.receive, count, MPI_FLOAT, comm_); });
  }
}

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
