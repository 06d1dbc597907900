// SPDX-License-Identifier: Apache-2.0
// Sockets in the abstract namespace, which end with their process.
#include "datagrams.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace leadline::fake_portals4 {
namespace {

constexpr std::size_t longest_datagram = std::size_t{1} << 17;

struct Name {
  sockaddr_un address{};
  socklen_t length = 0;
};

Name name_of(std::uint32_t pid) {
  const std::string text = "leadline-portals4-" + std::to_string(pid);
  Name name;
  name.address.sun_family = AF_UNIX;
  std::memcpy(&name.address.sun_path[1], text.data(), text.size());
  name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

}  // namespace

Datagrams::Datagrams(std::uint32_t own_pid) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  const Name own = name_of(own_pid);
  if (socket_ < 0 || ::bind(socket_, reinterpret_cast<const sockaddr*>(&own.address), own.length) == 0) return;
  ::close(socket_);
  socket_ = -1;
}

Datagrams::~Datagrams() {
  if (socket_ >= 0) ::close(socket_);
}

void Datagrams::move(const std::function<void(std::span<const std::byte>)>& on_arrival,
                     const std::function<void(std::span<const std::byte>)>& on_lost) {
  for (auto& [pid, line] : leaving_) {
    Sent sent = Sent::yes;
    while (!line.empty() && (sent = send_now(pid, line.front())) != Sent::no_room) {
      const Datagram done = std::move(line.front());
      line.pop_front();
      if (sent == Sent::nobody_there) on_lost(done);
    }
  }
  static std::vector<std::byte> place(longest_datagram);
  for (;;) {
    const ssize_t size = ::recv(socket_, place.data(), place.size(), MSG_DONTWAIT);
    if (size < 0) return;
    on_arrival({place.data(), static_cast<std::size_t>(size)});
  }
}

Datagrams::Sent Datagrams::send_now(std::uint32_t pid, const Datagram& datagram) const {
  const Name to = name_of(pid);
  const ssize_t size = ::sendto(socket_, datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&to.address), to.length);
  if (size >= 0) return Sent::yes;
  return errno == ECONNREFUSED || errno == ENOENT ? Sent::nobody_there : Sent::no_room;
}

}  // namespace leadline::fake_portals4
