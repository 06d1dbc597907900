// SPDX-License-Identifier: Apache-2.0
// A bare ping-pong of send and recv between two processes on loopback, first led by one, then by the other.
#include "loopback.h"
#include "ping_pong.h"

static __attribute__((noinline)) void ping(char* out, char* in, size_t size, int fd, int num) {
  for (; num > 0; --num) {
    if (send(fd, out, size, MSG_NOSIGNAL) != (ssize_t)size) die("send");
    if (recv(fd, in, size, MSG_WAITALL) != (ssize_t)size) die("recv");
  }
}

static __attribute__((noinline)) void pong(char* out, char* in, size_t size, int fd, int num) {
  for (; num > 0; --num) {
    if (recv(fd, in, size, MSG_WAITALL) != (ssize_t)size) die("recv");
    if (send(fd, out, size, MSG_NOSIGNAL) != (ssize_t)size) die("send");
  }
}

/// Collection of instructions is switched on by this name.
__attribute__((noinline)) void bare_lead(const struct arguments* of, char* out, char* in, int fd, double* times_ns) {
  ping(out, in, (size_t)of->size_bytes, fd, of->num_warmup);
  for (int batch = 0; batch < of->num_batches; ++batch) {
    const int num = messages_of_batch(of, batch);
    const uint64_t start_ns = now_ns();
    ping(out, in, (size_t)of->size_bytes, fd, num);
    times_ns[batch] = (double)(now_ns() - start_ns) / (2.0 * num);
  }
}

__attribute__((noinline)) void bare_follow(const struct arguments* of, char* out, char* in, int fd) {
  pong(out, in, (size_t)of->size_bytes, fd, of->num_warmup);
  for (int batch = 0; batch < of->num_batches; ++batch) {
    pong(out, in, (size_t)of->size_bytes, fd, messages_of_batch(of, batch));
  }
}

int main(int argc, char** argv) {
  const struct arguments of = arguments_of(argc, argv);
  int rank = 0;
  pid_t child = 0;
  const int fd = connected(&rank, &child);
  char* const out = filled_buffer((size_t)of.size_bytes);
  char* const in = filled_buffer((size_t)of.size_bytes);
  double* const times_ns = malloc((size_t)of.num_batches * sizeof *times_ns);
  if (times_ns == NULL) die("malloc");

  for (int leader = 0; leader < 2; ++leader) {
    if (leader == rank) {
      bare_lead(&of, out, in, fd, times_ns);
    } else {
      bare_follow(&of, out, in, fd);
    }
  }
  double own = median_of(times_ns, of.num_batches), other = 0;
  if (rank == 1) {
    if (send(fd, &own, sizeof own, MSG_NOSIGNAL) != sizeof own) die("send");
  } else {
    if (recv(fd, &other, sizeof other, MSG_WAITALL) != sizeof other) die("recv");
    printf("{\"time_ns_medians\": [%.3f, %.3f]}\n", own, other);
    await_child(child);
  }
  free(times_ns);
  free(in);
  free(out);
  close(fd);
  return 0;
}
