// SPDX-License-Identifier: Apache-2.0
// To be preloaded: libraries whose names contain one of the words in HIDDEN_LIBRARIES (with colons) cannot be opened at
// run time. Those that a program is linked with are found as usual.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int is_hidden(const char* name) {
  const char* given = getenv("HIDDEN_LIBRARIES");
  if (name == NULL || given == NULL) return 0;
  char words[1024];
  strncpy(words, given, sizeof words - 1);
  words[sizeof words - 1] = '\0';
  char* rest = NULL;
  for (const char* word = strtok_r(words, ":", &rest); word != NULL; word = strtok_r(NULL, ":", &rest)) {
    if (strstr(name, word) != NULL) return 1;
  }
  return 0;
}

void* dlopen(const char* name, int flags) {
  void* (*real)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  // A name that no file has, so that the loader gives its own reason.
  return real(is_hidden(name) ? "/hidden/library.so" : name, flags);
}
