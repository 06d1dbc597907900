// SPDX-License-Identifier: Apache-2.0
// Preloaded: /dev/hfi1_0 is there for whoever asks, so that PSM2 starts without an adapter and uses shared memory.
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

int stat(const char* restrict path, struct stat* restrict found) {
  static int (*next)(const char*, struct stat*) = NULL;
  if (next == NULL) next = (int (*)(const char*, struct stat*))dlsym(RTLD_NEXT, "stat");
  return next(strcmp(path, "/dev/hfi1_0") == 0 ? "/dev/null" : path, found);
}
