// SPDX-License-Identifier: Apache-2.0
// The lower rank connects and sends the password that the higher one gave it, since any program can connect to a port.
#include "transport/data_network.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <random>

#include "cluster/connection.hpp"
#include "core/error.hpp"
#include "transport/address_exchange.hpp"

namespace leadline::transport {
namespace {

constexpr std::size_t password_length = 32;

std::string new_password() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// "PASSWORD PORT ADDRESS"
std::string card_of(const std::string& password, const cluster::SocketAddress& address) {
  return fmt::format("{} {} {}", password, address.port(), address.host_text());
}

struct Card {
  std::string password;
  cluster::SocketAddress address;
};

std::optional<Card> read_card(const std::string& text) {
  const auto first = text.find(' '), second = text.find(' ', first + 1);
  if (first != password_length || second == std::string::npos) return std::nullopt;
  const auto port = static_cast<std::uint16_t>(std::atoi(text.substr(first + 1, second - first - 1).c_str()));
  const auto address = cluster::SocketAddress::parse(text.substr(second + 1), port);
  if (!address) return std::nullopt;
  return Card{text.substr(0, first), *address};
}

/// All of it in time, or false.
bool has_read(int fd, std::array<char, password_length>& text, Deadline deadline) {
  std::size_t num_read = 0;
  while (num_read < text.size()) {
    pollfd wanted{fd, POLLIN, 0};
    if (::poll(&wanted, 1, deadline.left_ms()) == 0 && deadline.has_passed()) return false;
    const ssize_t got = ::recv(fd, text.data() + num_read, text.size() - num_read, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (got > 0) num_read += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

DataNetwork::DataNetwork(const std::string& interface)
    : own_(cluster::local_address(interface)), listener_(cluster::listen_on(own_.address)) {}

Descriptor DataNetwork::connect(int own_rank, int partner, const Descriptor& meeting, Deadline deadline) {
  const std::string password = new_password();
  const std::string own_card = card_of(password, cluster::SocketAddress::of_socket(listener_.fd()));
  const std::string card = exchange_addresses(meeting.fd(), partner, own_card, deadline);
  Descriptor socket = own_rank < partner ? dial(partner, card, deadline) : accept(partner, password, deadline);
  cluster::set_no_delay(socket.fd());
  cluster::set_blocking(socket.fd(), cluster::Blocking::yes);
  return socket;
}

Descriptor DataNetwork::dial(int partner, const std::string& card, Deadline deadline) const {
  const auto their = read_card(card);
  std::string why = "its address makes no sense";
  if (their) {
    if (Descriptor socket = cluster::connect_to(their->address, own_.address, deadline, why)) {
      // A new connection takes these few bytes at once; where it is already broken, the greeting will see it.
      (void)!::send(socket.fd(), their->password.data(), their->password.size(), MSG_NOSIGNAL);
      return socket;
    }
  }
  throw Error(ExitStatus::run_failed,
              fmt::format("the network {} does not lead to rank {}{}", own_.device, partner,
                          their ? " at " + their->address.host_text() : ""),
              why, "Check --interface: each network in it must reach the others");
}

Descriptor DataNetwork::accept(int partner, const std::string& password, Deadline deadline) const {
  while (!deadline.has_passed()) {
    pollfd wanted{listener_.fd(), POLLIN, 0};
    if (::poll(&wanted, 1, deadline.left_ms()) <= 0) continue;
    Descriptor socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    std::array<char, password_length> text{};
    if (socket && has_read(socket.fd(), text, deadline) && std::string_view(text.data(), text.size()) == password) {
      return socket;
    }
  }
  throw_late(partner);
}

}  // namespace leadline::transport
