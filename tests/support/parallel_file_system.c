// SPDX-License-Identifier: Apache-2.0
// A library to preload: files below a folder seem to lie on Lustre or BeeGFS. What these file systems answer is written
// here a second time, after their own headers (lustre_user.h, beegfs_ioctl_functions.h).
//
// SEEMING_FOLDER  part of the paths of such files
// SEEMING_KIND    "lustre", "lustre-pfl" (two components, the second without objects), or "beegfs"
// SEEMING_TARGETS so many storage targets; a file whose name ends in ".N" is on number N modulo that, or where
//                 SEEMING_STRIPES is set on that and so many after it
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

// As they were when the library was loaded: to read the environment while another thread changes it is a race.
static char folder[PATH_MAX], kind[32];
static unsigned num_targets = 1, num_stripes = 1;

__attribute__((constructor)) static void read_environment(void) {
  const char *where = getenv("SEEMING_FOLDER"), *what = getenv("SEEMING_KIND"), *targets = getenv("SEEMING_TARGETS"),
             *stripes = getenv("SEEMING_STRIPES");
  if (where == NULL || what == NULL) return;
  snprintf(folder, sizeof folder, "%s", where);
  snprintf(kind, sizeof kind, "%s", what);
  if (targets != NULL) num_targets = (unsigned)atoi(targets);
  if (stripes != NULL) num_stripes = (unsigned)atoi(stripes);
}

static int is_concerned(const char* path) { return folder[0] != '\0' && strstr(path, folder) != NULL; }

static unsigned number_of(const char* path) {
  const char* end = strrchr(path, '.');
  return end == NULL ? 0 : (unsigned)atoi(end + 1);
}

static long magic(void) { return strcmp(kind, "beegfs") == 0 ? 0x19830326 : 0x0bd00bd0; }

#define STATFS(name, Buffer)                                             \
  int name(const char* path, Buffer* buffer) {                           \
    __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    const int status = real(path, buffer);                               \
    if (status == 0 && is_concerned(path)) buffer->f_type = magic();     \
    return status;                                                       \
  }
STATFS(statfs, struct statfs)
STATFS(statfs64, struct statfs64)

struct __attribute__((packed)) object {
  uint64_t id[2];
  uint32_t generation, index;
};
struct __attribute__((packed)) layout {  // lov_user_md_v1
  uint32_t magic, pattern;
  uint64_t id[2];
  uint32_t stripe_size;
  uint16_t stripe_count, generation;
};
struct __attribute__((packed)) component {
  uint32_t id, flags;
  uint64_t begin, end;
  uint32_t offset, size, generation;
  uint64_t time;
  uint32_t padding;
};
struct __attribute__((packed)) composite {
  uint32_t magic, size, generation;
  uint16_t flags, num_components, num_mirrors;
  uint8_t num_parities, padding[5];
  uint64_t more_padding;
};

static size_t put_layout(char* at, unsigned first) {
  const struct layout head = {
      .magic = 0x0bd10bd0, .pattern = 1, .stripe_size = 1 << 20, .stripe_count = (uint16_t)num_stripes};
  memcpy(at, &head, sizeof head);
  for (unsigned stripe = 0; stripe < num_stripes; ++stripe) {
    const struct object one = {.index = (first + stripe) % num_targets};
    memcpy(at + sizeof head + stripe * sizeof one, &one, sizeof one);
  }
  return sizeof head + num_stripes * sizeof(struct object);
}

ssize_t getxattr(const char* path, const char* name, void* value, size_t size) {
  __typeof__(&getxattr) real = (__typeof__(&getxattr))dlsym(RTLD_NEXT, "getxattr");
  if (!is_concerned(path) || strncmp(kind, "lustre", 6) != 0 || strcmp(name, "lustre.lov") != 0) {
    return real(path, name, value, size);
  }
  char text[4096] = {0};
  size_t length = 0;
  if (strcmp(kind, "lustre-pfl") == 0) {
    const size_t first = sizeof(struct composite) + 2 * sizeof(struct component);
    const size_t of_first = put_layout(text + first, number_of(path)), second = first + of_first;
    length = second + put_layout(text + second, number_of(path) + 1);
    const struct composite head = {.magic = 0x0bd60bd0, .size = (uint32_t)length, .num_components = 2};
    const struct component parts[2] = {
        {.id = 1, .flags = 0x10, .end = 1 << 30, .offset = (uint32_t)first, .size = (uint32_t)of_first},
        {.id = 2,
         .begin = 1 << 30,
         .end = UINT64_MAX,
         .offset = (uint32_t)second,
         .size = (uint32_t)(length - second)}};
    memcpy(text, &head, sizeof head);
    memcpy(text + sizeof head, parts, sizeof parts);
  } else {
    length = put_layout(text, number_of(path));
  }
  if (size == 0) return (ssize_t)length;
  if (size < length) return errno = ERANGE, -1;
  memcpy(value, text, length);
  return (ssize_t)length;
}

struct stripe_info {
  unsigned pattern, chunk_size;
  uint16_t num_targets;
};
struct stripe_target {
  uint32_t index, target, primary, secondary, primary_node, secondary_node;
  char primary_name[256], secondary_name[256];
};

int ioctl(int fd, unsigned long request, ...) {
  __typeof__(&ioctl) real = (__typeof__(&ioctl))dlsym(RTLD_NEXT, "ioctl");
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  char link[64], path[PATH_MAX] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (strcmp(kind, "beegfs") != 0 || readlink(link, path, sizeof path - 1) < 0 || !is_concerned(path)) {
    return real(fd, request, argument);
  }
  if (request == _IOR('f', 25, struct stripe_info)) {
    *(struct stripe_info*)argument = (struct stripe_info){1, 1 << 19, (uint16_t)num_stripes};
    return 0;
  }
  if (request == _IOR('f', 26, struct stripe_target)) {
    struct stripe_target* one = argument;
    one->target = 101 + (number_of(path) + one->index) % num_targets;
    return 0;
  }
  return real(fd, request, argument);
}
