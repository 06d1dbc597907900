// SPDX-License-Identifier: Apache-2.0
// IPv4 and IPv6 addresses with a port as the system wants them, and which of its own a host should listen on.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

class SocketAddress {
 public:
  SocketAddress() = default;
  explicit SocketAddress(const sockaddr* address);

  /// Numeric addresses only: nothing here asks a name server.
  static std::optional<SocketAddress> parse(const std::string& address, std::uint16_t port);

  /// The address to which a socket is bound.
  static SocketAddress of_socket(int fd);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const;
  int family() const { return storage_.ss_family; }
  std::uint16_t port() const;
  bool is_loopback() const;
  std::string host_text() const;  ///< "127.0.0.1"
  std::string text() const;       ///< "127.0.0.1:60000", "[::1]:60000"
  Endpoint endpoint() const { return {host_text(), port()}; }

  /// The bytes of the address alone: 4, or 16.
  std::string_view address_bytes() const;

 private:
  sockaddr_storage storage_{};
};

/// One address of one network device that is up.
struct LocalAddress {
  std::string device;
  SocketAddress address;
  unsigned num_network_bits = 0;  ///< the first bits, which all addresses of its network have in common; 0 = not known
};

/// Local: those of this host, without link-local ones, IPv4 first.
std::vector<LocalAddress> local_addresses();

/// Whether "eth0", "10.55.", "10.55.0.0/24" or "fd00::/8" means this address.
bool matches(const LocalAddress& candidate, const std::string& wanted);

/// The networks in a list "ib0,ib1".
std::vector<std::string> rails(const std::string& interfaces);

/// Local: the first address of this host that `wanted` means. Throws Error(something_missing) that lists what there is.
LocalAddress local_address(const std::string& wanted);

/// Which of its networks a host uses between hosts; at most one of the two is not empty.
struct NetworkChoice {
  std::string interface = {};  ///< a device or a network, see matches(); of several the first counts
  /// Put behind the host name up to its first dot: the name service knows the network's address under that name.
  std::string host_name_suffix = {};
};

/// Local: throws Error(bad_command_line) where both are given.
void refuse_two_choices(const NetworkChoice& network);

/// Local: where a run over several hosts listens, with port 0: what was chosen, else the only address or that of the
/// own host name, else the first that is not a loopback.
/// Throws Error(something_missing) where there is none. May ask the name service.
SocketAddress address_between_hosts(const NetworkChoice& network);

}  // namespace leadline::cluster
