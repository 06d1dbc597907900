// SPDX-License-Identifier: Apache-2.0
// Tagged messages over UNIX domain sockets between the processes of one host: one connection for each direction.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "model/provenance.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::local_sockets {

/// See transport/tagged/port.hpp. What arrives before its receive is posted is kept: so each message is sent without a
/// posted receive.
class LocalSocketsPort {
  struct Sending;
  struct Connection;

 public:
  /// A closed connection means that its rank is gone.
  static constexpr bool keeps_endpoints = true;
  static constexpr bool survives_lost_partners = false;

  using Peer = Connection*;
  struct Memory {};
  struct Request {
    Connection* connection = nullptr;  ///< to the other rank
    bool is_receive = false, is_done = true;
  };

  LocalSocketsPort() : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    // A name of no characters: the kernel makes up an unused one that is no file.
    if (!listener_ || ::bind(listener_.fd(), as_address(name), sizeof name.sun_family) != 0 ||
        ::listen(listener_.fd(), SOMAXCONN) != 0) {
      fail("cannot listen on a UNIX domain socket");
    }
    socklen_t length = sizeof name;
    if (::getsockname(listener_.fd(), as_address(name), &length) != 0) fail("cannot name a UNIX domain socket");
    address_.assign(name.sun_path, length - offsetof(sockaddr_un, sun_path));
  }
  LocalSocketsPort(const LocalSocketsPort&) = delete;
  LocalSocketsPort& operator=(const LocalSocketsPort&) = delete;
  ~LocalSocketsPort() = default;

  Memory memory(const std::byte*, std::size_t) const { return {}; }

  void post_send(Peer peer, tagged::Tag tag, const Memory&, const std::byte* data, std::size_t size, Request& request) {
    request = {peer, false, false};
    peer->sends.push_back({{tagged::bits(tag), size}, data, 0, &request});
    send_more(*peer);
  }

  void post_receive(Peer peer, tagged::Tag tag, const Memory&, std::byte* data, std::size_t size, Request& request) {
    request = {peer, true, false};
    const auto early = std::find_if(early_.begin(), early_.end(), [&](const Arrival& arrival) {
      return arrival.request == nullptr && arrival.header.tag == tagged::bits(tag);
    });
    if (early == early_.end()) {
      receives_.push_back({tagged::bits(tag), data, size, &request});
      return;
    }
    require_size(early->header.size, size);
    if (early->num_received < size) {
      // The rest of it is still to come.
      early->request = &request;
      early->target = data;
      return;
    }
    if (size > 0) std::memcpy(data, early->bytes.data(), size);
    early_.erase(early);
    request.is_done = true;
  }

  bool is_done(Request& request) {
    if (request.is_done) return true;
    if (request.connection->error_number != 0) fail_message(request.connection->error_number);
    if (request.is_receive && gone_.contains(request.connection->address)) fail_message(ECONNRESET);
    return false;
  }

  bool progress() {
    bool any = false;
    for (;;) {
      Descriptor socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) break;
      incoming_.push_back({.socket = std::move(socket)});
      any = true;
    }
    for (Connection& connection : connections_) any |= !connection.sends.empty() && send_more(connection);
    for (auto incoming = incoming_.begin(); incoming != incoming_.end();) {
      any |= receive_more(*incoming);
      incoming = incoming->socket ? std::next(incoming) : incoming_.erase(incoming);
    }
    return any;
  }

  /// Until the kernel has everything.
  bool flush(Deadline deadline) {
    return tagged::drive_until(*this, deadline, [&] {
      return std::all_of(connections_.begin(), connections_.end(),
                         [](const Connection& connection) { return connection.sends.empty(); });
    });
  }

  static std::uint64_t max_message_bytes() { return UINT64_MAX / 2; }
  std::string address() const { return address_; }

  /// Does not wait: the kernel keeps the connection until the other rank takes it.
  Peer open(std::string_view address) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (address.size() != name_bytes) fail("an address is no name of a UNIX domain socket");
    std::memcpy(name.sun_path, address.data(), address.size());
    Connection connection{.address = std::string(address),
                          .socket = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))};
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    if (!connection.socket || ::connect(connection.socket.fd(), as_address(name), length) != 0 ||
        ::send(connection.socket.fd(), address_.data(), name_bytes, MSG_NOSIGNAL) != ssize_t{name_bytes}) {
      fail("cannot connect a UNIX domain socket");
    }
    connections_.push_back(std::move(connection));
    return &connections_.back();
  }
  void close(Peer peer) {
    connections_.remove_if([peer](const Connection& connection) { return &connection == peer; });
  }

  TransportInfo info() const { return {.name = "local_sockets", .library = "Linux UNIX domain sockets", .device = {}}; }

 private:
  static constexpr std::size_t name_bytes = 6;  // unix(7): a null byte and five hexadecimal digits

  struct Header {
    std::uint64_t tag = 0, size = 0;
  };
  struct Sending {
    Header header;
    const std::byte* data;
    std::size_t num_sent;  ///< of header and data
    Request* request;
  };
  struct Connection {
    std::string address;
    Descriptor socket;
    std::deque<Sending> sends{};
    int error_number = 0;
  };
  struct Posted {
    std::uint64_t tag;
    std::byte* data;
    std::size_t size;
    Request* request;
  };
  /// A message that began to arrive before its receive was posted.
  struct Arrival {
    Header header;
    std::vector<std::byte> bytes{};
    std::size_t num_received = 0;
    Request* request = nullptr;  ///< of the receive that was posted meanwhile
    std::byte* target = nullptr;
  };
  struct Incoming {
    Descriptor socket;
    std::array<char, name_bytes> sender{};
    std::size_t num_of_sender = 0;
    Header header{};
    std::size_t num_of_header = 0, num_received = 0;
    Posted receive{};            ///< of the message that comes in
    Arrival* arrival = nullptr;  ///< the same, where none was posted
  };

  static sockaddr* as_address(sockaddr_un& name) { return reinterpret_cast<sockaddr*>(&name); }

  [[noreturn, gnu::cold]] static void fail(const char* problem) {
    throw Error(ExitStatus::run_failed, problem, system_error_text(errno));
  }
  [[noreturn, gnu::cold]] static void fail_message(int error_number) {
    throw tagged::MessageFailed(ExitStatus::run_failed, "a UNIX domain socket", system_error_text(error_number));
  }
  static void require_size(std::uint64_t sent, std::uint64_t received) {
    if (sent != received) throw tagged::MessageFailed(ExitStatus::run_failed, "a message has another size");
  }

  /// Whether anything went out. An error is told of where somebody waits for its message.
  static bool send_more(Connection& connection) {
    bool any = false;
    while (!connection.sends.empty() && connection.error_number == 0) {
      Sending& message = connection.sends.front();
      const std::size_t all = sizeof(Header) + message.header.size;
      const std::size_t of_header = std::min(message.num_sent, sizeof(Header));
      const std::size_t of_data = message.num_sent - of_header;
      std::array<iovec, 2> parts{{{reinterpret_cast<char*>(&message.header) + of_header, sizeof(Header) - of_header},
                                  {const_cast<std::byte*>(message.data) + of_data, message.header.size - of_data}}};
      msghdr what{};
      what.msg_iov = parts.data();
      what.msg_iovlen = parts.size();
      const ssize_t num = ::sendmsg(connection.socket.fd(), &what, MSG_NOSIGNAL);
      if (num < 0 && (errno == EAGAIN || errno == EINTR)) return any;
      if (num < 0) connection.error_number = errno;
      if (num <= 0) return any;
      any = true;
      message.num_sent += static_cast<std::size_t>(num);
      if (message.num_sent < all) continue;
      message.request->is_done = true;
      connection.sends.pop_front();
    }
    return any;
  }

  /// -1: nothing is there. Closes the socket where the other end is gone.
  ssize_t receive_part(Incoming& from, void* data, std::size_t size) {
    const ssize_t num = ::recv(from.socket.fd(), data, size, 0);
    if (num > 0 || (num < 0 && (errno == EAGAIN || errno == EINTR))) return num;
    gone_.insert(std::string(from.sender.data(), from.sender.size()));
    from.socket = Descriptor();
    return -1;
  }

  bool receive_more(Incoming& from) {
    bool any = false;
    while (from.socket) {
      if (from.num_of_sender < name_bytes) {
        const auto num = receive_part(from, from.sender.data() + from.num_of_sender, name_bytes - from.num_of_sender);
        if (num < 0) return any;
        from.num_of_sender += static_cast<std::size_t>(num);
      } else if (from.num_of_header < sizeof(Header)) {
        auto* const header = reinterpret_cast<char*>(&from.header);
        const auto num = receive_part(from, header + from.num_of_header, sizeof(Header) - from.num_of_header);
        if (num < 0) return any;
        from.num_of_header += static_cast<std::size_t>(num);
        if (from.num_of_header == sizeof(Header)) begin_message(from);
      } else if (from.num_received < from.header.size) {
        std::byte* const data = from.arrival != nullptr ? from.arrival->bytes.data() : from.receive.data;
        const auto num = receive_part(from, data + from.num_received, from.header.size - from.num_received);
        if (num < 0) return any;
        from.num_received += static_cast<std::size_t>(num);
        if (from.arrival != nullptr) from.arrival->num_received = from.num_received;
      }
      any = true;
      if (from.num_of_header == sizeof(Header) && from.num_received == from.header.size) end_message(from);
    }
    return any;
  }

  void begin_message(Incoming& from) {
    const auto posted = std::find_if(receives_.begin(), receives_.end(),
                                     [&](const Posted& receive) { return receive.tag == from.header.tag; });
    if (posted == receives_.end()) {
      early_.push_back({from.header, std::vector<std::byte>(from.header.size)});
      from.arrival = &early_.back();
      return;
    }
    require_size(from.header.size, posted->size);
    from.receive = *posted;
    receives_.erase(posted);
  }

  void end_message(Incoming& from) {
    if (from.arrival == nullptr) {
      from.receive.request->is_done = true;
    } else if (Arrival& arrival = *from.arrival; arrival.request != nullptr) {
      std::memcpy(arrival.target, arrival.bytes.data(), arrival.bytes.size());
      arrival.request->is_done = true;
      early_.remove_if([&](const Arrival& other) { return &other == &arrival; });
    }
    from.num_of_header = from.num_received = 0;
    from.arrival = nullptr;
  }

  Descriptor listener_;
  std::string address_;
  std::list<Connection> connections_;  ///< to send
  std::list<Incoming> incoming_;       ///< to receive
  std::deque<Posted> receives_;        ///< in the order posted
  std::list<Arrival> early_;           ///< in the order of arrival
  std::set<std::string> gone_;         ///< addresses of ranks that are gone
};

}  // namespace leadline::transport::local_sockets
