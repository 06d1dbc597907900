// SPDX-License-Identifier: Apache-2.0
// How far two processors are from each other: the time in ns in which one cache line goes there and back.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "bare.h"

enum { num_trials = 15, num_turns = 4000, done = 2 * num_turns };

static _Alignas(128) atomic_int line = done;
static int cores[2];

static void bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) exit(4);
}

static void await(int turn) {
  while (atomic_load_explicit(&line, memory_order_acquire) != turn) {
  }
}

static void write_turn(int turn) { atomic_store_explicit(&line, turn, memory_order_release); }

static void* answer(void* unused) {
  bind_to(cores[1]);
  for (int trial = 0; trial < num_trials; ++trial) {
    for (int turn = 1; turn < done; turn += 2) {
      await(turn);
      write_turn(turn + 1);
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s CORE CORE\n", argv[0]);
    return 2;
  }
  for (int i = 0; i < 2; ++i) cores[i] = atoi(argv[1 + i]);
  bind_to(cores[0]);
  pthread_t other;
  if (pthread_create(&other, NULL, answer, NULL) != 0) return 4;
  double times_ns[num_trials];
  for (int trial = 0; trial < num_trials; ++trial) {
    const uint64_t start_ns = now_ns();
    for (int turn = 0; turn < done; turn += 2) {
      if (turn > 0) await(turn);
      write_turn(turn + 1);
    }
    await(done);
    times_ns[trial] = (double)(now_ns() - start_ns) / num_turns;
  }
  pthread_join(other, NULL);
  printf("%.1f\n", median_of(times_ns, num_trials));
  return 0;
}
