// SPDX-License-Identifier: Apache-2.0
// Connecting with patience: the other rank may start later than we do, or be flooded by strangers.
#include "cluster/dial.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cluster/listener.hpp"
#include "cluster/rendezvous.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

void wait_for(int fd, short events, Deadline deadline) {
  pollfd one{fd, events, 0};
  ::poll(&one, 1, deadline.left_ms(1000));
}

/// Nothing where the connection is refused or fails; `why` says how.
Socket connect_to(const SocketAddress& address, Deadline deadline, std::string& why) {
  Socket socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error_number = errno;
  if (socket) {
    error_number = ::connect(socket.fd(), address.get(), address.length()) == 0 ? 0 : errno;
    while (error_number == EINPROGRESS && !deadline.has_passed()) {
      wait_for(socket.fd(), POLLOUT, deadline);
      pollfd now{socket.fd(), POLLOUT, 0};
      if (::poll(&now, 1, 0) == 0) continue;
      socklen_t length = sizeof error_number;
      ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error_number, &length);
    }
  }
  if (error_number == 0) return socket;
  why = error_number == EINPROGRESS ? "it does not answer" : system_error_text(error_number);
  return {};
}

/// Waits for the answer until the deadline and no less: whoever gives up earlier leaves the other side with a
/// connection that it believes in.
bool is_answered(int fd, const Hello& hello, const RunKey& key, Deadline deadline, std::string& why) {
  Answer answer{};
  std::size_t num_read = 0;
  while (num_read < answer.size()) {
    const ssize_t got = ::recv(fd, answer.data() + num_read, answer.size() - num_read, MSG_DONTWAIT);
    if (got > 0) {
      num_read += static_cast<std::size_t>(got);
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      why = "it turns us away";
      return false;
    }
    if (deadline.has_passed()) {
      why = "it does not answer";
      return false;
    }
    wait_for(fd, POLLIN, deadline);
  }
  if (key.is_answer_to(hello, answer)) return true;
  why = "something else answers there";  // also our own socket, when the system connects it to itself
  return false;
}

}  // namespace

Socket dial(const SocketAddress& address, const Hello& hello, const RunKey& key, Deadline deadline) {
  const SealedHello sealed = key.seal(hello);
  std::string why;
  for (int pause_ms = 1;; pause_ms = std::min(2 * pause_ms, 100)) {
    Socket socket = connect_to(address, deadline, why);
    if (socket) {
      set_no_delay(socket.fd());
      // A new connection takes these few bytes at once; where it is already broken, is_answered sees it.
      (void)!::send(socket.fd(), sealed.data(), sealed.size(), MSG_NOSIGNAL);
      if (is_answered(socket.fd(), hello, key, deadline, why)) return socket;
    }
    if (deadline.has_passed()) break;
    ::poll(nullptr, 0, deadline.left_ms(pause_ms));
  }
  throw ConnectionLost(fmt::format("rank {} cannot reach rank {} at {}", hello.from, hello.to, address.text()), why,
                       "check that it was started, and with the same secret");
}

}  // namespace leadline::cluster
