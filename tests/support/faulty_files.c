// SPDX-License-Identifier: Apache-2.0
// A library to preload: calls that read or write files with a certain name misbehave once, or are slow, as the
// environment says.
//
// FAULTY_FILE     part of the file's path; other files are left alone
// FAULTY_CALL     the number of the call, from 1, counted in each process over all such files
// FAULTY_KIND     "short": half of it, "zero": nothing, "eio": -1 and EIO, "hang": it never returns; FAULTY_KIND of
// reads: "short-read", "eio-read", "hang-read"; of closing what was open for writing, from that call on:
// "edquot-close", "hang-close". "slow": every read and write takes FAULTY_CALL milliseconds longer
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// As it was when the library was loaded: to read the environment while another thread changes it is a race.
static char faulty_file[PATH_MAX], faulty_kind[32];
static int faulty_call = 0;  // 0: nothing was asked for

__attribute__((constructor)) static void read_environment(void) {
  const char *file = getenv("FAULTY_FILE"), *kind = getenv("FAULTY_KIND"), *call = getenv("FAULTY_CALL");
  if (file == NULL || kind == NULL || call == NULL) return;
  snprintf(faulty_file, sizeof faulty_file, "%s", file);
  snprintf(faulty_kind, sizeof faulty_kind, "%s", kind);
  faulty_call = atoi(call);
}

static int is_concerned(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return strstr(path, faulty_file) != NULL;
}

static void hang_if_asked(void) {
  while (strncmp(faulty_kind, "hang", 4) == 0) pause();
}

/// How much of `size` this call may move; -1: it fails.
static ssize_t allowed(int fd, size_t size, int reads) {
  static int num_calls = 0;
  if (strcmp(faulty_kind, "slow") == 0) {
    const struct timespec longer = {faulty_call / 1000, faulty_call % 1000 * 1000000L};
    if (is_concerned(fd)) nanosleep(&longer, NULL);
    return (ssize_t)size;
  }
  if (faulty_call == 0 || size == 0 || strstr(faulty_kind, "-close") != NULL) return (ssize_t)size;
  if ((strstr(faulty_kind, "-read") != NULL) != reads || !is_concerned(fd)) return (ssize_t)size;
  if (__atomic_add_fetch(&num_calls, 1, __ATOMIC_RELAXED) != faulty_call) return (ssize_t)size;
  hang_if_asked();
  if (strncmp(faulty_kind, "short", 5) == 0) return (ssize_t)(size / 2);
  if (strncmp(faulty_kind, "zero", 4) == 0) return 0;
  return -1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t refused(void) {
  errno = EIO;
  return -1;
}

#define PLAIN(name, Byte, reads, Offset)                         \
  ssize_t name(int fd, Byte* data, size_t size, Offset offset) { \
    REAL(name);                                                  \
    const ssize_t part = allowed(fd, size, reads);               \
    if (part < 0) return refused();                              \
    return part == 0 ? 0 : real(fd, data, (size_t)part, offset); \
  }
PLAIN(pwrite, const void, 0, off_t)
PLAIN(pwrite64, const void, 0, off64_t)
PLAIN(pread, void, 1, off_t)
PLAIN(pread64, void, 1, off64_t)

#define SEQUENTIAL(name, Byte, reads)                    \
  ssize_t name(int fd, Byte* data, size_t size) {        \
    REAL(name);                                          \
    const ssize_t part = allowed(fd, size, reads);       \
    if (part < 0) return refused();                      \
    return part == 0 ? 0 : real(fd, data, (size_t)part); \
  }
SEQUENTIAL(write, const void, 0)
SEQUENTIAL(read, void, 1)

// Vectors: only their first part counts, so that a short call is one.
#define VECTORED(name, reads)                                                      \
  ssize_t name(int fd, const struct iovec* parts, int num, off64_t offset) {       \
    REAL(name);                                                                    \
    const size_t size = num > 0 ? parts[0].iov_len : 0;                            \
    const ssize_t part = allowed(fd, size, reads);                                 \
    if (part < 0) return refused();                                                \
    if ((size_t)part == size) return real(fd, parts, num, offset);                 \
    const struct iovec first = {num > 0 ? parts[0].iov_base : NULL, (size_t)part}; \
    return part == 0 ? 0 : real(fd, &first, 1, offset);                            \
  }
VECTORED(pwritev, 0)
VECTORED(pwritev64, 0)
VECTORED(preadv, 1)
VECTORED(preadv64, 1)

int close(int fd) {
  static int num_calls = 0;
  REAL(close);
  const int is_wanted = faulty_call > 0 && strstr(faulty_kind, "-close") != NULL;
  if (!is_wanted || !is_concerned(fd) || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) return real(fd);
  if (__atomic_add_fetch(&num_calls, 1, __ATOMIC_RELAXED) < faulty_call) return real(fd);
  hang_if_asked();
  real(fd);
  errno = EDQUOT;
  return -1;
}
