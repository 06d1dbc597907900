// SPDX-License-Identifier: Apache-2.0
// Functions of glibc 2.30 and 2.32 for programs that run with an older one. Compiled where the linker does not find
// them.
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

const char* sigdescr_np(int number) { return strsignal(number); }

/// Of the signals by which a run is told to stop; null for others.
const char* sigabbrev_np(int number) {
  switch (number) {
    case SIGHUP:
      return "HUP";
    case SIGINT:
      return "INT";
    case SIGTERM:
      return "TERM";
    default:
      return NULL;
  }
}
