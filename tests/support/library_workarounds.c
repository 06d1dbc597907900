// SPDX-License-Identifier: Apache-2.0
// A library to preload: leaves out what two libraries do at their start and while they wait, which no test looks at,
// and makes ranks wait longer, for messages and for files, so that a run is not over too soon on a fast machine.
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

// Whether this variable says how long to sleep.
static int has_slept(const char* variable) {
  const char* const sleep_us = getenv(variable);
  if (sleep_us == NULL) return 0;
  const struct timespec while_asleep = {0, atol(sleep_us) * 1000};
  nanosleep(&while_asleep, NULL);
  return 1;
}

// A rank that waits in this way, for another or for its library, sleeps for so long each time.
int sched_yield(void) { return has_slept("YIELD_SLEEPS_US") ? 0 : (int)syscall(SYS_sched_yield); }

// And so does one that sends over a socket,
ssize_t send(int fd, const void* data, size_t size, int flags) {
  has_slept("SEND_SLEEPS_US");
  return (ssize_t)syscall(SYS_sendto, fd, data, size, flags, NULL, 0);
}

// or reads or writes a file at a place.
#define SLOWED(name, Byte, number)                              \
  ssize_t name(int fd, Byte* data, size_t size, off_t offset) { \
    has_slept("FILE_SLEEPS_US");                                \
    return (ssize_t)syscall(number, fd, data, size, offset);    \
  }
SLOWED(pwrite, const void, SYS_pwrite64)
SLOWED(pwrite64, const void, SYS_pwrite64)
SLOWED(pread, void, SYS_pread64)
SLOWED(pread64, void, SYS_pread64)

// Ranks of MPICH wait in UCX and never yield: more of them than cores keep those that have work from a core.
unsigned ucp_worker_progress(void* worker) {
  static unsigned (*real)(void*);
  if (real == NULL)
    real = (unsigned (*)(void*))dlsym(dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY), "ucp_worker_progress");
  const unsigned num_done = real(worker);
  if (num_done == 0 && getenv("PMI_RANK") != NULL) sched_yield();
  return num_done;
}
