// SPDX-License-Identifier: Apache-2.0
// A library to preload: leaves out what two libraries do at their start and while they wait, which no test looks at,
// and makes ranks wait longer, so that a run is not over too soon on a fast machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// libfabric looks twice through all symbols of the kernel in each process, for memory of GPUs behind InfiniBand
// adapters: 0.1 s of 0.15 s.
FILE* fopen(const char* path, const char* mode) {
  if (strcmp(path, "/proc/kallsyms") == 0) {
    errno = ENOENT;
    return NULL;
  }
  __typeof__(&fopen) real = (__typeof__(&fopen))dlsym(RTLD_NEXT, "fopen");
  return real(path, mode);
}

// A rank that waits in this way, for another or for its library, sleeps for so long each time.
int sched_yield(void) {
  const char* const sleep_us = getenv("YIELD_SLEEPS_US");
  if (sleep_us == NULL) return (int)syscall(SYS_sched_yield);
  const struct timespec while_asleep = {0, atol(sleep_us) * 1000};
  return nanosleep(&while_asleep, NULL);
}

// Ranks of MPICH wait in UCX and never yield: more of them than cores keep those that have work from a core.
unsigned ucp_worker_progress(void* worker) {
  static unsigned (*real)(void*);
  if (real == NULL)
    real = (unsigned (*)(void*))dlsym(dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY), "ucp_worker_progress");
  const unsigned num_done = real(worker);
  if (num_done == 0 && getenv("PMI_RANK") != NULL) sched_yield();
  return num_done;
}
