// SPDX-License-Identifier: Apache-2.0
// A bare ping-pong of MPI_Send and MPI_Recv between two ranks, first led by rank 0, then by rank 1.
#include <mpi.h>

#include "ping_pong.h"

static __attribute__((noinline)) void ping(char* out, char* in, int size, int partner, MPI_Comm comm, int num) {
  for (; num > 0; --num) {
    MPI_Send(out, size, MPI_BYTE, partner, 0, comm);
    MPI_Recv(in, size, MPI_BYTE, partner, 0, comm, MPI_STATUS_IGNORE);
  }
}

static __attribute__((noinline)) void pong(char* out, char* in, int size, int partner, MPI_Comm comm, int num) {
  for (; num > 0; --num) {
    MPI_Recv(in, size, MPI_BYTE, partner, 0, comm, MPI_STATUS_IGNORE);
    MPI_Send(out, size, MPI_BYTE, partner, 0, comm);
  }
}

/// Collection of instructions is switched on by this name.
__attribute__((noinline)) void bare_lead(const struct arguments* of, char* out, char* in, int partner, MPI_Comm comm,
                                         double* times_ns) {
  ping(out, in, of->size_bytes, partner, comm, of->num_warmup);
  for (int batch = 0; batch < of->num_batches; ++batch) {
    const int num = messages_of_batch(of, batch);
    const uint64_t start_ns = now_ns();
    ping(out, in, of->size_bytes, partner, comm, num);
    times_ns[batch] = (double)(now_ns() - start_ns) / (2.0 * num);
  }
}

__attribute__((noinline)) void bare_follow(const struct arguments* of, char* out, char* in, int partner,
                                           MPI_Comm comm) {
  pong(out, in, of->size_bytes, partner, comm, of->num_warmup);
  for (int batch = 0; batch < of->num_batches; ++batch) {
    pong(out, in, of->size_bytes, partner, comm, messages_of_batch(of, batch));
  }
}

int main(int argc, char** argv) {
  const struct arguments of = arguments_of(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm comm;  // as programs do that share a process with others
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size != 2) MPI_Abort(comm, 2);
  char* const out = filled_buffer((size_t)of.size_bytes);
  char* const in = filled_buffer((size_t)of.size_bytes);
  double* const times_ns = malloc((size_t)of.num_batches * sizeof *times_ns);
  if (times_ns == NULL) MPI_Abort(comm, 3);

  MPI_Sendrecv(out, 0, MPI_BYTE, 1 - rank, 0, in, 0, MPI_BYTE, 1 - rank, 0, comm, MPI_STATUS_IGNORE);  // opens it
  for (int leader = 0; leader < 2; ++leader) {
    if (leader == rank) {
      bare_lead(&of, out, in, 1 - rank, comm, times_ns);
    } else {
      bare_follow(&of, out, in, 1 - rank, comm);
    }
  }
  double own = median_of(times_ns, of.num_batches), all[2] = {0, 0};
  MPI_Gather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, comm);
  if (rank == 0) printf("{\"time_ns_medians\": [%.3f, %.3f]}\n", all[0], all[1]);
  free(times_ns);
  free(in);
  free(out);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
