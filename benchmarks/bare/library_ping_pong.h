// SPDX-License-Identifier: Apache-2.0
// The ping-pong of a message library between two bound processes, first led by one, then by the other.
// Whoever includes it defines `struct way` and the functions declared here, and is compiled with _GNU_SOURCE.
#pragma once

#include <sched.h>

#include "loopback.h"
#include "ping_pong.h"

struct way;

/// A whole message; these return when the buffer is free again, and when the message is there.
static inline void send_message(struct way* way);
static inline void receive_message(struct way* way);
/// Drives the library on.
static inline void progress(struct way* way);
/// From a way that is all zeros to one that carries messages of so many bytes, with the rank's own words of the command
/// line and a socket to the other rank; and its end.
static void open_way(struct way* way, size_t size_bytes, int rank, int fd, char** words);
static void close_way(struct way* way);

static __attribute__((noinline)) void ping(struct way* way, int num) {
  for (; num > 0; --num) {
    send_message(way);
    receive_message(way);
  }
}

static __attribute__((noinline)) void pong(struct way* way, int num) {
  for (; num > 0; --num) {
    receive_message(way);
    send_message(way);
  }
}

/// Collection of instructions is switched on by this name, and the next.
__attribute__((noinline)) void bare_lead(struct way* way, const struct arguments* of, double* times_ns) {
  ping(way, of->num_warmup);
  for (int batch = 0; batch < of->num_batches; ++batch) {
    const int num = messages_of_batch(of, batch);
    const uint64_t start_ns = now_ns();
    ping(way, num);
    times_ns[batch] = (double)(now_ns() - start_ns) / (2.0 * num);
  }
}

__attribute__((noinline)) void bare_follow(struct way* way, const struct arguments* of) {
  pong(way, of->num_warmup);
  for (int batch = 0; batch < of->num_batches; ++batch) pong(way, messages_of_batch(of, batch));
}

static void bind_to(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) die("sched_setaffinity");
}

/// Rank 0 prints both medians.
static void measure(struct way* way, const struct arguments* of, int rank, int fd) {
  double* const times_ns = malloc((size_t)of->num_batches * sizeof *times_ns);
  if (times_ns == NULL) die("malloc");
  for (int leader = 0; leader < 2; ++leader) {
    if (leader == rank) {
      bare_lead(way, of, times_ns);
    } else {
      bare_follow(way, of);
    }
  }
  const double own = median_of(times_ns, of->num_batches);
  double other = 0;
  free(times_ns);
  if (send(fd, &own, sizeof own, MSG_NOSIGNAL) != sizeof own) die("send");
  // The other's last send may need this rank's library.
  while (recv(fd, &other, sizeof other, MSG_DONTWAIT) != sizeof other) progress(way);
  if (rank == 0) printf("{\"time_ns_medians\": [%.3f, %.3f]}\n", own, other);
}

/// All of main(); what the library wants to know stands last on the command line, in `num_words` words.
static int run_ping_pong(struct way* way, int argc, char** argv, int num_words, const char* words) {
  if (argc != 7 + num_words) {
    fprintf(stderr, "usage: %s SIZE_BYTES MESSAGES WARMUP BATCHES CORE CORE%s\n", argv[0], words);
    return 2;
  }
  const struct arguments of = arguments_of(5, argv);
  int rank = 0;
  pid_t child = 0;
  const int fd = connected(&rank, &child);
  bind_to(atoi(argv[5 + rank]));
  open_way(way, (size_t)of.size_bytes, rank, fd, argv + 7);
  measure(way, &of, rank, fd);
  close_way(way);
  close(fd);
  if (rank == 0) await_child(child);
  return 0;
}
