// SPDX-License-Identifier: Apache-2.0
// Stands before the C library: an Omni-Path adapter is there, as far as PSM2 looks before it uses shared memory.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

int stat(const char* restrict path, struct stat* restrict result) {
  static int (*next)(const char* restrict, struct stat* restrict);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "stat");
  return next(strcmp(path, "/dev/hfi1_0") == 0 ? "/dev/null" : path, result);
}
