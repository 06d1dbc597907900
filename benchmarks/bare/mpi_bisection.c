// SPDX-License-Identifier: Apache-2.0
// Random perfect matchings in bare MPI calls; prints the mean time of an exchange over ranks and patterns, in ns.
#include <mpi.h>

#include "bare.h"

/// The same matching on every rank: seat i with seat i + n/2.
static int partner_in(int* seats, int num_ranks, int rank, unsigned* state) {
  for (int i = 0; i < num_ranks; ++i) seats[i] = i;
  for (int left = num_ranks; left > 1; --left) {
    const int drawn = (int)(rand_r(state) % (unsigned)left), last = seats[left - 1];
    seats[left - 1] = seats[drawn];
    seats[drawn] = last;
  }
  const int half = num_ranks / 2;
  for (int i = 0; i < num_ranks; ++i) {
    if (seats[i] == rank) return seats[(i + half) % num_ranks];
  }
  return rank;
}

static void exchange(int num, int partner, char* out, char* in, int size_bytes) {
  for (int i = 0; i < num; ++i) {
    MPI_Request requests[2];
    MPI_Isend(out, size_bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, size_bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, num_ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (argc != 5 || num_ranks % 2 != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  const int size_bytes = atoi(argv[1]), num_exchanges = atoi(argv[2]), num_warmup = atoi(argv[3]);
  const int num_patterns = atoi(argv[4]);
  char *const out = filled_buffer((size_t)size_bytes), *const in = filled_buffer((size_t)size_bytes);
  int* const seats = malloc((size_t)num_ranks * sizeof *seats);
  if (seats == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  unsigned state = 1;
  double sum_ns = 0;
  for (int pattern = 0; pattern < num_patterns; ++pattern) {
    const int partner = partner_in(seats, num_ranks, rank, &state);
    exchange(num_warmup, partner, out, in, size_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const uint64_t start_ns = now_ns();
    exchange(num_exchanges, partner, out, in, size_bytes);
    sum_ns += (double)(now_ns() - start_ns) / num_exchanges;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  double all_ns = 0;
  MPI_Reduce(&sum_ns, &all_ns, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.3f\n", all_ns / num_ranks / num_patterns);
  free(seats);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
