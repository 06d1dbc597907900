// SPDX-License-Identifier: Apache-2.0
// A library to preload: regular files are those of a file system without holes, which refuses to write or to set an end
// behind the end of a file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static int leaves_a_hole(int fd, off_t begin) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 0 && begin > status.st_size;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define REFUSED    \
  do {             \
    errno = EPERM; \
    return -1;     \
  } while (0)

#define PWRITE(name, Offset)                                           \
  ssize_t name(int fd, const void* data, size_t size, Offset offset) { \
    if (leaves_a_hole(fd, offset)) REFUSED;                            \
    REAL(name);                                                        \
    return real(fd, data, size, offset);                               \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define FTRUNCATE(name, Offset)           \
  int name(int fd, Offset size) {         \
    if (leaves_a_hole(fd, size)) REFUSED; \
    REAL(name);                           \
    return real(fd, size);                \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)
