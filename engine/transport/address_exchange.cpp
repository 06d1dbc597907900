// SPDX-License-Identifier: Apache-2.0
// A length and the bytes, both ways at once; and single bytes.
#include "transport/address_exchange.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "cluster/rendezvous.hpp"
#include "transport/socket_link.hpp"

namespace leadline::transport {
namespace {

using Length = std::uint32_t;
constexpr Length max_bytes = 1 << 16;

[[noreturn]] void throw_too_long(int partner) {
  throw cluster::ConnectionLost(partner, "the address of rank " + std::to_string(partner) + " is too long");
}

/// Both ways at once, since two long addresses may not fit into what sockets hold.
class Exchange {
 public:
  Exchange(int socket, int partner, std::string_view own) : socket_(socket), partner_(partner) {
    const auto length = static_cast<Length>(own.size());
    out_.resize(sizeof length);
    std::memcpy(out_.data(), &length, sizeof length);
    out_ += own;
  }

  std::string run(Deadline deadline, const ProgressFunction& progress) {
    while (num_sent_ < out_.size() || !is_in()) {
      pollfd wanted{socket_, POLLIN, 0};
      if (num_sent_ < out_.size()) wanted.events |= POLLOUT;
      const int ready = ::poll(&wanted, 1, deadline.left_ms(progress));
      if (ready == 0 && deadline.has_passed()) throw_late(partner_);
      if (ready < 0 && errno != EINTR) throw_lost(partner_, errno);
      if (ready == 0 && progress) progress();
      if (ready <= 0) continue;
      if ((wanted.revents & POLLOUT) != 0) send();
      if ((wanted.revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive();
    }
    return in_.substr(sizeof(Length));
  }

 private:
  std::size_t wanted_bytes() const {
    if (in_.size() < sizeof(Length)) return sizeof(Length);
    Length length = 0;
    std::memcpy(&length, in_.data(), sizeof length);
    if (length > max_bytes) throw_too_long(partner_);
    return sizeof length + length;
  }

  bool is_in() const { return in_.size() >= sizeof(Length) && in_.size() == wanted_bytes(); }

  void send() {
    const auto num = ::send(socket_, out_.data() + num_sent_, out_.size() - num_sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (num < 0 && errno != EAGAIN && errno != EINTR) throw_lost(partner_, errno);
    if (num > 0) num_sent_ += static_cast<std::size_t>(num);
  }

  /// No byte more than the message has: the bytes behind it belong to another reader.
  void receive() {
    std::array<char, 4096> part;
    const std::size_t num_left = wanted_bytes() - in_.size();
    const auto num = ::recv(socket_, part.data(), std::min(num_left, part.size()), MSG_DONTWAIT);
    if (num == 0 && num_left > 0) throw_lost(partner_, 0);
    if (num < 0 && errno != EAGAIN && errno != EINTR) throw_lost(partner_, errno);
    if (num > 0) in_.append(part.data(), static_cast<std::size_t>(num));
  }

  int socket_, partner_;
  std::string out_, in_;
  std::size_t num_sent_ = 0;
};

}  // namespace

std::string exchange_addresses(int socket, int partner, std::string_view own, Deadline deadline,
                               const ProgressFunction& progress) {
  assert(own.size() <= max_bytes);
  return Exchange(socket, partner, own).run(deadline, progress);
}

void send_ready(int socket, int partner) {
  const char sign = 1;
  if (::send(socket, &sign, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) throw_lost(partner, errno);
}

bool has_sign(int socket, int partner) {
  char sign = 0;
  const auto num = ::recv(socket, &sign, 1, MSG_DONTWAIT);
  if (num == 0) throw_lost(partner, 0);
  if (num < 0 && errno != EAGAIN && errno != EINTR) throw_lost(partner, errno);
  return num == 1;
}

void throw_late(int partner) {
  throw cluster::ConnectionLost(partner, "rank " + std::to_string(partner) + " did not answer in time");
}

}  // namespace leadline::transport
