// SPDX-License-Identifier: Apache-2.0
// Bytes that this rank passes on between a rank and the root, where the two do not reach each other.
#include "cluster/relay.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "cluster/connection.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t max_bytes_kept = std::size_t{1} << 16;  // of each direction; the sender waits

}  // namespace

Relay::Relay(Descriptor caller, const SocketAddress& address) {
  caller_.socket = std::move(caller);
  called_.socket = Descriptor(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!called_.socket) {
    is_over_ = true;
    return;
  }
  set_no_delay(called_.socket.fd());
  is_over_ = ::connect(called_.socket.fd(), address.get(), address.length()) != 0 && errno != EINPROGRESS;
}

void Relay::add_to(std::vector<pollfd>& polled) const {
  const auto add = [&](const Side& side, const Side& other) {
    int events = !side.has_ended && other.waiting.size() < max_bytes_kept ? POLLIN : 0;
    if (!side.waiting.empty()) events |= POLLOUT;
    if (events != 0) polled.push_back({side.socket.fd(), static_cast<short>(events), 0});
  };
  if (!is_connected_) {
    polled.push_back({called_.socket.fd(), POLLOUT, 0});
    return;
  }
  add(caller_, called_);
  add(called_, caller_);
}

void Relay::serve() {
  if (!is_connected_) {
    pollfd one{called_.socket.fd(), POLLOUT, 0};
    if (::poll(&one, 1, 0) <= 0) return;
    is_connected_ = true;  // where it failed, reading says so
  }
  read(caller_, called_);
  read(called_, caller_);
  write(caller_);
  write(called_);
  const auto is_done = [](const Side& ended, const Side& other) { return ended.has_ended && other.waiting.empty(); };
  is_over_ = is_over_ || is_done(caller_, called_) || is_done(called_, caller_);
}

void Relay::read(Side& from, Side& to) {
  while (!from.has_ended && to.waiting.size() < max_bytes_kept) {
    char bytes[4096];
    const ssize_t got = ::recv(from.socket.fd(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      from.has_ended = true;
      return;
    }
    to.waiting.append(bytes, static_cast<std::size_t>(got));
  }
}

void Relay::write(Side& to) {
  while (!to.waiting.empty()) {
    const ssize_t sent = ::send(to.socket.fd(), to.waiting.data(), to.waiting.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      is_over_ = true;
      return;
    }
    to.waiting.erase(0, static_cast<std::size_t>(sent));
  }
}

}  // namespace leadline::cluster
