// SPDX-License-Identifier: Apache-2.0
// All ranks but 0 stream messages to rank 0 through windows of posted receives; prints the time of it, in ns.
#include <mpi.h>

#include "bare.h"

/// Rank 0: `window` receives from each sender are posted; whichever is done is posted again.
static void receive_all(int num_senders, int num_messages, int size_bytes, int window, char* buffers) {
  const int num_slots = num_senders * window;
  MPI_Request* const requests = malloc((size_t)num_slots * sizeof *requests);
  int* const left = malloc((size_t)num_senders * sizeof *left);
  if (requests == NULL || left == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < num_slots; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int sender = 0; sender < num_senders; ++sender) {
    left[sender] = num_messages;
    for (int i = 0; i < window && left[sender] > 0; ++i, --left[sender]) {
      const int slot = sender * window + i;
      MPI_Irecv(buffers + (size_t)slot * (size_t)size_bytes, size_bytes, MPI_BYTE, sender + 1, 0, MPI_COMM_WORLD,
                &requests[slot]);
    }
  }
  for (;;) {
    int slot;
    MPI_Waitany(num_slots, requests, &slot, MPI_STATUS_IGNORE);
    if (slot == MPI_UNDEFINED) break;
    const int sender = slot / window;
    if (left[sender] == 0) continue;
    --left[sender];
    MPI_Irecv(buffers + (size_t)slot * (size_t)size_bytes, size_bytes, MPI_BYTE, sender + 1, 0, MPI_COMM_WORLD,
              &requests[slot]);
  }
  free(left);
  free(requests);
}

static void send_all(int num_messages, int size_bytes, int window, char* buffers) {
  MPI_Request* const requests = malloc((size_t)window * sizeof *requests);
  if (requests == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < window; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < num_messages; ++i) {
    const int slot = i % window;
    MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
    MPI_Isend(buffers + (size_t)slot * (size_t)size_bytes, size_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[slot]);
  }
  MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, num_ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (argc != 4 || num_ranks < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const int num_messages = atoi(argv[1]), size_bytes = atoi(argv[2]), window = atoi(argv[3]);
  const int num_slots = rank == 0 ? (num_ranks - 1) * window : window;
  char* const buffers = filled_buffer((size_t)num_slots * (size_t)size_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start_ns = now_ns();
  if (rank == 0) {
    receive_all(num_ranks - 1, num_messages, size_bytes, window, buffers);
  } else {
    send_all(num_messages, size_bytes, window, buffers);
  }
  if (rank == 0) printf("%.0f\n", (double)(now_ns() - start_ns));
  free(buffers);
  MPI_Finalize();
  return 0;
}
