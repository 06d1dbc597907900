// SPDX-License-Identifier: Apache-2.0
// Listening sockets and socket options.
#include "cluster/listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>

#include <cerrno>

#include "core/error.hpp"

namespace leadline::cluster {
namespace {

[[noreturn]] void cannot_listen(const SocketAddress& address, int error_number) {
  const std::string place = address.port() != 0 ? address.text() : address.host_text();
  const char* hint = "Check the addresses and ports of the run";
  if (error_number == EADDRINUSE) hint = "another program, or another run, has that port: choose a free one";
  if (error_number == EADDRNOTAVAIL) hint = "that address is not one of this host";
  if (error_number == EACCES) hint = "ports below 1024 are for root: choose a higher one";
  throw Error(ExitStatus::run_failed, fmt::format("cannot listen on {}", place), system_error_text(error_number), hint);
}

}  // namespace

Socket listen_on(const SocketAddress& address) {
  Socket listener(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) cannot_listen(address, errno);
  const int yes = 1;  // otherwise a port stays refused for a minute after a run
  ::setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.family() == AF_INET6) ::setsockopt(listener.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (::bind(listener.fd(), address.get(), address.length()) != 0) cannot_listen(address, errno);
  if (::listen(listener.fd(), SOMAXCONN) != 0) cannot_listen(address, errno);
  return listener;
}

void set_blocking(int fd, Blocking blocking) {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, blocking == Blocking::yes ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

void set_no_delay(int fd) {
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace leadline::cluster
