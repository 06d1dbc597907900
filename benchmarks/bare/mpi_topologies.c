// SPDX-License-Identifier: Apache-2.0
// NETTEST's six procedures in bare MPI calls, one after another; prints the median time of an exchange of each.
#include <mpi.h>

#include "bare.h"

/// One rank's two buffers for each other rank, and room for a request to and from each.
struct part {
  int rank, num_ranks, size_bytes;
  MPI_Comm comm;
  char *out, *in;
  size_t stride_bytes;
  MPI_Request* requests;  // sends first, then receives
};

static void start_send(const struct part* of, int partner, MPI_Request* request) {
  MPI_Isend(of->out + (size_t)partner * of->stride_bytes, of->size_bytes, MPI_BYTE, partner, 0, of->comm, request);
}

static void start_receive(const struct part* of, int partner, MPI_Request* request) {
  MPI_Irecv(of->in + (size_t)partner * of->stride_bytes, of->size_bytes, MPI_BYTE, partner, 0, of->comm, request);
}

static void star_centre(const struct part* of) {
  const int others = of->num_ranks - 1;
  for (int i = 0; i < others; ++i) start_send(of, i + 1, &of->requests[i]);
  for (int i = 0; i < others; ++i) start_receive(of, i + 1, &of->requests[others + i]);
  MPI_Waitall(2 * others, of->requests, MPI_STATUSES_IGNORE);
}

static void star(const struct part* of) {
  if (of->rank == 0) return star_centre(of);
  MPI_Recv(of->in, of->size_bytes, MPI_BYTE, 0, 0, of->comm, MPI_STATUS_IGNORE);
  MPI_Send(of->out, of->size_bytes, MPI_BYTE, 0, 0, of->comm);
}

static void star2(const struct part* of) {
  if (of->rank == 0) return star_centre(of);
  start_send(of, 0, &of->requests[0]);
  start_receive(of, 0, &of->requests[1]);
  MPI_Waitall(2, of->requests, MPI_STATUSES_IGNORE);
}

static void complete(const struct part* of) {
  const int others = of->num_ranks - 1;
  MPI_Request* const receives = of->requests + others;
  int num_sends = 0;
  for (int j = of->rank + 1; j < of->num_ranks; ++j) start_send(of, j, &of->requests[num_sends++]);
  for (int j = 0; j < of->num_ranks; ++j) {
    if (j != of->rank) start_receive(of, j, &receives[j < of->rank ? j : j - 1]);
  }
  for (int i = 0; i < others; ++i) {
    int which;
    MPI_Waitany(others, receives, &which, MPI_STATUS_IGNORE);
    if (which < of->rank) start_send(of, which, &of->requests[num_sends++]);
  }
  MPI_Waitall(num_sends, of->requests, MPI_STATUSES_IGNORE);
}

static void complete2(const struct part* of) {
  const int others = of->num_ranks - 1;
  int num = 0;
  for (int j = 0; j < of->num_ranks; ++j) {
    if (j != of->rank) start_send(of, j, &of->requests[num++]);
  }
  for (int j = 0; j < of->num_ranks; ++j) {
    if (j != of->rank) start_receive(of, j, &of->requests[num++]);
  }
  MPI_Waitall(2 * others, of->requests, MPI_STATUSES_IGNORE);
}

static int right_of(const struct part* of) { return (of->rank + 1) % of->num_ranks; }
static int left_of(const struct part* of) { return (of->rank + of->num_ranks - 1) % of->num_ranks; }

static void ring(const struct part* of) {
  start_send(of, right_of(of), &of->requests[0]);
  start_receive(of, left_of(of), &of->requests[1]);
  MPI_Waitall(2, of->requests, MPI_STATUSES_IGNORE);
  start_send(of, left_of(of), &of->requests[0]);
  start_receive(of, right_of(of), &of->requests[1]);
  MPI_Waitall(2, of->requests, MPI_STATUSES_IGNORE);
}

static void ring2(const struct part* of) {
  start_send(of, right_of(of), &of->requests[0]);
  start_send(of, left_of(of), &of->requests[1]);
  start_receive(of, right_of(of), &of->requests[2]);
  start_receive(of, left_of(of), &of->requests[3]);
  MPI_Waitall(4, of->requests, MPI_STATUSES_IGNORE);
}

/// In nanoseconds, closing barrier included.
static double median_time(const struct part* of, void (*exchange)(const struct part*), int num_timed, int num_warmup,
                          double* times_ns) {
  for (int i = 0; i < num_warmup + num_timed; ++i) {
    MPI_Barrier(of->comm);
    const uint64_t start_ns = now_ns();
    exchange(of);
    MPI_Barrier(of->comm);
    if (i >= num_warmup) times_ns[i - num_warmup] = (double)(now_ns() - start_ns);
  }
  return median_of(times_ns, num_timed);
}

static const struct {
  const char* name;
  void (*exchange)(const struct part*);
} procedures[] = {{"star", star},           {"star2", star2}, {"complete", complete},
                  {"complete2", complete2}, {"ring", ring},   {"ring2", ring2}};

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s SIZE_BYTES EXCHANGES WARMUP\n", argv[0]);
    return 2;
  }
  const int num_timed = atoi(argv[2]), num_warmup = atoi(argv[3]);
  MPI_Init(&argc, &argv);
  struct part of = {.size_bytes = atoi(argv[1])};
  MPI_Comm_dup(MPI_COMM_WORLD, &of.comm);  // as programs do that share a process with others
  MPI_Comm_rank(of.comm, &of.rank);
  MPI_Comm_size(of.comm, &of.num_ranks);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  of.stride_bytes = ((size_t)of.size_bytes + page - 1) / page * page;
  of.out = filled_buffer(of.stride_bytes * (size_t)of.num_ranks);
  of.in = filled_buffer(of.stride_bytes * (size_t)of.num_ranks);
  of.requests = malloc(2 * (size_t)(of.num_ranks + 1) * sizeof *of.requests);
  double* const times_ns = malloc((size_t)num_timed * sizeof *times_ns);
  if (of.requests == NULL || times_ns == NULL) MPI_Abort(of.comm, 3);

  if (of.rank == 0) printf("{");
  for (size_t i = 0; i < sizeof procedures / sizeof *procedures; ++i) {
    const double time_ns = median_time(&of, procedures[i].exchange, num_timed, num_warmup, times_ns);
    if (of.rank == 0) printf("%s\"%s\": %.1f", i > 0 ? ", " : "", procedures[i].name, time_ns);
  }
  if (of.rank == 0) printf("}\n");
  free(times_ns);
  free(of.requests);
  free(of.in);
  free(of.out);
  MPI_Comm_free(&of.comm);
  MPI_Finalize();
  return 0;
}
