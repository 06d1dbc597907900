// SPDX-License-Identifier: Apache-2.0
// A star of connections around rank 0, which lasts until the ranks know where each of them listens.
#include "cluster/torchrun.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/address.hpp"
#include "cluster/bytes.hpp"
#include "cluster/connection.hpp"
#include "cluster/handshake.hpp"
#include "cluster/keyed_hash.hpp"
#include "cluster/variables.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr int port_offset = 1000;
constexpr int port_max = 65535;
constexpr std::uint32_t message_size_max_bytes = 256U << 20;
constexpr const char* same_variables_hint =
    "Start every rank with its own RANK, and with the same WORLD_SIZE, MASTER_ADDR and MASTER_PORT";

/// The connection ended, or the time.
struct GatherBroken {
  std::string why;
};

template <class Move>
void move_all(int fd, short events, std::size_t size_bytes, Deadline deadline, const Move& move) {
  for (std::size_t num_moved = 0; num_moved < size_bytes;) {
    const ssize_t done = move(num_moved, size_bytes - num_moved);
    if (done > 0) num_moved += static_cast<std::size_t>(done);
    if (done == 0) throw GatherBroken{"it has closed the connection"};
    if (done > 0 || errno == EINTR) continue;
    if (errno != EAGAIN) throw GatherBroken{system_error_text(errno)};
    pollfd polled{fd, events, 0};
    if (::poll(&polled, 1, deadline.left_ms()) == 0) throw GatherBroken{"it is silent"};
  }
}

enum class Kind : std::uint8_t { text, error };

std::string received_bytes(int fd, std::size_t size_bytes, Deadline deadline) {
  std::string bytes(size_bytes, '\0');
  move_all(fd, POLLIN, size_bytes, deadline,
           [&](std::size_t at, std::size_t left) { return ::recv(fd, bytes.data() + at, left, 0); });
  return bytes;
}

std::string packed_error(const Error& error) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(error.status()));
  append_text(bytes, error.problem());
  append_text(bytes, error.why());
  append_text(bytes, error.hint());
  return bytes;
}

[[noreturn]] void throw_packed(std::string_view bytes) {
  Reader reader(bytes);
  const auto status = static_cast<ExitStatus>(reader.number<std::uint32_t>());
  std::string problem = reader.text(), why = reader.text(), hint = reader.text();
  throw AgreedError(Error(status, std::move(problem), std::move(why), std::move(hint)));
}

/// Messages that only those can make who know the secret.
class Messages {
 public:
  /// The key is another one than that of the handshake, so that no proof of one is good for the other.
  explicit Messages(std::string_view secret) : key_(hash_of("messages to rank 0: " + std::string(secret))) {}

  void send(int fd, Kind kind, std::string_view text, Deadline deadline) const {
    std::string message;
    append(message, static_cast<std::uint8_t>(kind));
    message += text;
    std::string bytes;
    append_text(bytes, hash_of(message, token_size_bytes, key_) + message);
    move_all(fd, POLLOUT, bytes.size(), deadline,
             [&](std::size_t at, std::size_t left) { return ::send(fd, bytes.data() + at, left, MSG_NOSIGNAL); });
  }

  /// Throws the error that rank 0 tells of, where it does.
  std::string receive(int fd, Deadline deadline) const {
    const auto size_bytes = take<std::uint32_t>(received_bytes(fd, sizeof(std::uint32_t), deadline).data());
    if (size_bytes <= token_size_bytes || size_bytes > message_size_max_bytes) throw GatherBroken{"it sends nonsense"};
    const std::string token = received_bytes(fd, token_size_bytes, deadline);
    std::string message = received_bytes(fd, size_bytes - token_size_bytes, deadline);
    if (!are_equal(token, hash_of(message, token_size_bytes, key_))) throw GatherBroken{"it sends nonsense"};
    const auto kind = static_cast<Kind>(message.front());
    message.erase(0, 1);
    if (kind == Kind::error) throw_packed(message);
    return message;
  }

 private:
  std::string key_;
};

/// Rank 0's end of the connections, until their ranks have said more.
class Arrivals final : public JoinHandler {
 public:
  bool expects(const Hello& hello) const override {
    constexpr std::uint32_t rank_max = std::numeric_limits<int>::max();
    return hello.purpose == Purpose::gather && hello.to == 0 && hello.from > 0 && hello.from <= rank_max;
  }
  void admit(const Hello& hello, Descriptor socket) override { new_ones.emplace_back(hello.from, std::move(socket)); }

  std::vector<std::pair<std::uint32_t, Descriptor>> new_ones;
};

/// The first address that the name service has, IPv4 before IPv6.
SocketAddress address_of_master(const std::string& name, std::uint16_t port) {
  if (const auto address = SocketAddress::parse(name, port)) return *address;
  int problem = 0;
  for (const int family : {AF_INET, AF_INET6}) {
    addrinfo* list = nullptr;
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    problem = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
    if (problem != 0) continue;
    const SocketAddress found(list->ai_addr);
    ::freeaddrinfo(list);
    return *SocketAddress::parse(found.host_text(), port);
  }
  bad_variable("MASTER_ADDR", fmt::format("the name service says of '{}': {}", name, ::gai_strerror(problem)),
               "Set it to the host of rank 0");
}

class TorchrunBootstrap final : public Bootstrap {
 public:
  explicit TorchrunBootstrap(std::chrono::nanoseconds timeout)
      : timeout_(timeout),
        size_(number_of_variable("WORLD_SIZE", 1, std::numeric_limits<int>::max(), "Set it to the number of ranks")),
        rank_(number_of_variable("RANK", 0, size_ - 1, "Set it to this process's number, counted from 0")) {
    const std::string master = text_of_variable("MASTER_ADDR", "Set it to the host of rank 0");
    const std::string port_hint = "Set it to a port of that host, as torchrun does";
    const int master_port = number_of_variable("MASTER_PORT", 1, port_max, port_hint);
    const int port = master_port + (master_port + port_offset > port_max ? -port_offset : port_offset);
    SocketAddress address = address_of_master(master, static_cast<std::uint16_t>(port));
    secret_ = given_secret();
    // Not of the size: where it differs, rank 0 is to hear of it.
    const char* const run = std::getenv("TORCHELASTIC_RUN_ID");
    if (secret_.empty()) secret_ = fmt::format("{} {} {}", master, master_port, run != nullptr ? run : "");
    messages_.emplace(secret_);
    const RunKey key(secret_);
    const Deadline deadline = Deadline::after(timeout_);
    if (rank_ > 0) {
      connect(address, key, deadline);
      return;
    }
    // The own name of a host leads to 127.0.1.1 on some: only what is certain to be the loopback is taken for it.
    const bool is_on_loopback = master == "localhost" || (SocketAddress::parse(master, 0) && address.is_loopback());
    if (!is_on_loopback) {
      address =
          *SocketAddress::parse(address.family() == AF_INET6 ? "::" : "0.0.0.0", static_cast<std::uint16_t>(port));
    }
    gather_all(address, key, deadline);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string launcher() const override { return "torchrun"; }
  std::string_view known_secret() const override { return secret_; }
  void joined() override {
    to_root_ = Descriptor();
    others_.clear();
  }

  std::string all_gather(const std::string& own) override {
    const Deadline deadline = Deadline::after(timeout_);
    if (rank_ == 0) return passed_to_all(own, deadline);
    return with_root([&] {
      messages_->send(to_root_.fd(), Kind::text, own, deadline);
      return messages_->receive(to_root_.fd(), deadline);
    });
  }

 private:
  template <class Talk>
  auto with_root(const Talk& talk) const -> decltype(talk()) {
    try {
      return talk();
    } catch (const GatherBroken& broken) {
      throw Error(ExitStatus::run_failed, fmt::format("rank {} has lost rank 0", rank_), broken.why,
                  "Look at what rank 0 says");
    }
  }

  void connect(const SocketAddress& address, const RunKey& key, Deadline deadline) {
    to_root_ = dial(address, {Purpose::gather, static_cast<std::uint32_t>(rank_), 0}, key, deadline,
                    fmt::format("{}; the port is MASTER_PORT + {}", same_variables_hint, port_offset));
    std::string size;
    append(size, static_cast<std::uint32_t>(size_));
    with_root([&] { messages_->send(to_root_.fd(), Kind::text, size, deadline); });
  }

  void gather_all(const SocketAddress& address, const RunKey& key, Deadline deadline) {
    if (size_ == 1) return;
    allow_descriptors(size_);
    others_.resize(static_cast<std::size_t>(size_));
    HandshakeAcceptor acceptor(listener_at(address), key);
    Arrivals arrivals;
    for (int num_missing = size_ - 1; num_missing > 0;) {
      if (deadline.has_passed()) fail(absence(num_missing));
      std::vector<pollfd> polled;
      acceptor.add_to(polled);
      ::poll(polled.data(), polled.size(), deadline.left_ms(100));
      acceptor.serve(HandshakeAcceptor::Clock::now(), arrivals);
      for (auto& [rank, socket] : std::exchange(arrivals.new_ones, {})) {
        take_in(static_cast<int>(rank), std::move(socket), deadline);
        --num_missing;
      }
    }
  }

  static Descriptor listener_at(const SocketAddress& address) {
    try {
      return listen_on(address);
    } catch (const Error& error) {
      throw Error(
          error.status(), error.problem(), error.why(),
          fmt::format("The port is MASTER_PORT + {}: choose another MASTER_PORT, and start one rank with RANK 0",
                      port_offset));
    }
  }

  void take_in(int rank, Descriptor socket, Deadline deadline) {
    std::string said;
    try {
      said = messages_->receive(socket.fd(), deadline);
    } catch (const GatherBroken& broken) {
      fail(lost_rank(static_cast<std::size_t>(rank), broken));
    }
    const auto size = said.size() == sizeof(std::uint32_t) ? take<std::uint32_t>(said.data()) : 0;
    const bool is_known = rank < size_ && others_[static_cast<std::size_t>(rank)];
    Descriptor& place = rank < size_ && !is_known ? others_[static_cast<std::size_t>(rank)] : others_.emplace_back();
    place = std::move(socket);
    if (static_cast<int>(size) != size_) {
      fail(Error(ExitStatus::bad_command_line, "the ranks do not agree how many they are",
                 fmt::format("WORLD_SIZE is {} for rank 0 and {} for rank {}", size_, size, rank),
                 same_variables_hint));
    }
    if (is_known) {
      fail(Error(ExitStatus::bad_command_line, fmt::format("two processes are rank {}", rank),
                 fmt::format("RANK is {} for both", rank), same_variables_hint));
    }
  }

  Error absence(int num_missing) const {
    constexpr std::size_t num_named_max = 4;
    std::vector<int> missing;
    for (int rank = 1; rank < size_ && missing.size() < num_named_max; ++rank) {
      if (!others_[static_cast<std::size_t>(rank)]) missing.push_back(rank);
    }
    return {ExitStatus::run_failed,
            fmt::format("{} of {} ranks did not come within {:.3g} s", num_missing, size_, seconds(timeout_)),
            fmt::format("rank {}{}", fmt::join(missing, ", rank "),
                        static_cast<std::size_t>(num_missing) > missing.size() ? " ..." : ""),
            same_variables_hint};
  }

  static Error lost_rank(std::size_t rank, const GatherBroken& broken) {
    return {ExitStatus::run_failed, fmt::format("rank {} is lost while the ranks find each other", rank), broken.why,
            "Look at what that rank says"};
  }

  /// Tells all that have come.
  [[noreturn]] void fail(const Error& error) const {
    for (const Descriptor& other : others_) {
      try {
        if (other)
          messages_->send(other.fd(), Kind::error, packed_error(error), Deadline::after(std::chrono::seconds(1)));
      } catch (const GatherBroken&) {
        // That one has gone.
      }
    }
    throw AgreedError(error);
  }

  std::string passed_to_all(const std::string& own, Deadline deadline) const {
    std::string all = own;
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      try {
        const std::string text = messages_->receive(others_[rank].fd(), deadline);
        if (text.size() != own.size()) throw GatherBroken{"it sends nonsense"};
        all += text;
      } catch (const GatherBroken& broken) {
        fail(lost_rank(rank, broken));
      }
    }
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      try {
        messages_->send(others_[rank].fd(), Kind::text, all, deadline);
      } catch (const GatherBroken& broken) {
        fail(lost_rank(rank, broken));
      }
    }
    return all;
  }

  std::chrono::nanoseconds timeout_;
  int size_, rank_;
  std::string secret_;
  std::optional<Messages> messages_;
  Descriptor to_root_;
  std::vector<Descriptor> others_;  ///< on rank 0, by rank; its own is empty
};

}  // namespace

bool has_torchrun_variables() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  return is_set("RANK") || (is_set("WORLD_SIZE") && is_set("MASTER_ADDR"));
}

std::unique_ptr<Bootstrap> torchrun_bootstrap(std::chrono::nanoseconds timeout) {
  return std::make_unique<TorchrunBootstrap>(timeout);
}

}  // namespace leadline::cluster
