// SPDX-License-Identifier: Apache-2.0
// What a link over sockets does off the hot path: interrupted calls, broken connections, sleeping.
#include "transport/socket_link.hpp"

#include <array>
#include <string>

#include "cluster/rendezvous.hpp"

namespace leadline::transport {

void throw_lost(int partner, int error_number) { throw cluster::ConnectionLost::of_socket(partner, error_number); }

void finish_send(int fd, int partner, const std::byte* data, std::size_t size, ssize_t result) {
  for (std::size_t done = 0;;) {
    if (result < 0 && errno != EINTR) throw_lost(partner, errno);
    if (result > 0) done += static_cast<std::size_t>(result);
    if (done == size) return;
    result = ::send(fd, data + done, size - done, MSG_NOSIGNAL);
  }
}

void finish_receive(int fd, int partner, std::byte* data, std::size_t size, ssize_t result) {
  for (std::size_t done = 0;;) {
    if (result == 0) throw_lost(partner, 0);
    if (result < 0 && errno != EINTR) throw_lost(partner, errno);
    if (result > 0) done += static_cast<std::size_t>(result);
    if (done == size) return;
    result = ::recv(fd, data + done, size - done, MSG_WAITALL);
  }
}

void sleep_until_ready(LinkEnds ends, short events) {
  std::array<pollfd, 2> wanted{pollfd{ends.out, static_cast<short>(events & POLLOUT), 0},
                               pollfd{ends.in, static_cast<short>(events & POLLIN), 0}};
  // Errors and interruptions show in the call that follows.
  ::poll(wanted.data(), wanted.size(), -1);
}

}  // namespace leadline::transport
