// SPDX-License-Identifier: Apache-2.0
// A library to preload: the process gets the signal LOST_BY in the middle of opening its first link to another rank.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int setsockopt(int socket, int level, int name, const void* value, socklen_t size) {
  __typeof__(&setsockopt) real = (__typeof__(&setsockopt))dlsym(RTLD_NEXT, "setsockopt");
  const char* const number = getenv("LOST_BY");
  // A new link gets its limit of silence; no other socket has one.
  if (number != NULL && level == IPPROTO_TCP && name == TCP_USER_TIMEOUT) kill(getpid(), atoi(number));
  return real(socket, level, name, value, size);
}
