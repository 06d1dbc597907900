// SPDX-License-Identifier: Apache-2.0
// What bare programs of two processes on one host share: the second process, and a socket on loopback between the two.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline, noreturn)) void die(const char* call) {
  perror(call);
  exit(4);
}

/// A connected socket in each of two processes; rank 1 is the child.
static inline int connected(int* rank, pid_t* child) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &length) != 0) {
    die("listen");
  }
  *child = fork();
  if (*child < 0) die("fork");
  *rank = *child == 0 ? 1 : 0;
  int fd = -1;
  if (*rank == 0) {
    fd = accept(listener, NULL, NULL);
  } else {
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr*)&address, length) != 0) die("connect");
  }
  const int on = 1;
  if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) die("accept");
  close(listener);
  return fd;
}

/// Both tell each other so many bytes.
static inline void swap_bytes(int fd, const void* own, void* other, size_t size) {
  if (send(fd, own, size, MSG_NOSIGNAL) != (ssize_t)size) die("send");
  if (recv(fd, other, size, MSG_WAITALL) != (ssize_t)size) die("recv");
}

static inline void await_child(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) die("waitpid");
}
