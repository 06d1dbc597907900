// SPDX-License-Identifier: Apache-2.0
// A star of connections around rank 0, which lasts until the ranks know where each of them listens.
#include "cluster/rank0_bootstrap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <map>
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

constexpr int port_max = 65535;
constexpr std::uint32_t message_size_max_bytes = 256U << 20;

/// What a rank is told by variables with these names.
struct Told {
  const char *size_name = "", *rank_name = "", *host_name = "", *launcher = "";
  int size = 1, rank = 0;
  std::string host;  ///< of rank 0: an address, or a name for the name service
  std::uint16_t port = 0;
  std::string secret;
  std::string hint;                     ///< where the ranks do not fit together
  std::string port_hint;                ///< where rank 0 cannot listen at its port
  bool are_started_one_by_one = false;  ///< else the launcher sees to it that all ranks are there
};

Told told_by(const char* size_name, const char* rank_name, const char* host_name, const char* launcher) {
  Told told;
  told.size_name = size_name;
  told.rank_name = rank_name;
  told.launcher = launcher;
  told.host_name = host_name;
  told.size = number_of_variable(size_name, 1, std::numeric_limits<int>::max(), "Set it to the number of ranks");
  told.rank = number_of_variable(rank_name, 0, told.size - 1, "Set it to this process's number, counted from 0");
  told.host = text_of_variable(host_name, "Set it to the host of rank 0");
  return told;
}

int port_of_variable(const char* name) {
  return number_of_variable(name, 1, port_max, "Set it to a port of the host of rank 0, for all ranks");
}

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
SocketAddress address_of_rank0(const Told& told) {
  if (const auto address = SocketAddress::parse(told.host, told.port)) return *address;
  int problem = 0;
  for (const int family : {AF_INET, AF_INET6}) {
    addrinfo* list = nullptr;
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    problem = ::getaddrinfo(told.host.c_str(), nullptr, &hints, &list);
    if (problem != 0) continue;
    const SocketAddress found(list->ai_addr);
    ::freeaddrinfo(list);
    return *SocketAddress::parse(found.host_text(), told.port);
  }
  bad_variable(told.host_name, fmt::format("the name service says of '{}': {}", told.host, ::gai_strerror(problem)),
               told.hint);
}

/// The first name of a list of hosts as Slurm writes it: n08 of "n[08-10,12],m3".
std::string first_host(std::string_view list) {
  std::string name;
  while (!list.empty() && list.front() != ',') {
    const std::size_t begin = std::min(list.find_first_of("[,"), list.size());
    name += list.substr(0, begin);
    list.remove_prefix(begin);
    if (list.empty() || list.front() == ',') break;
    name += list.substr(1, list.find_first_of("-,]") - 1);
    list.remove_prefix(std::min(list.find(']'), list.size() - 1) + 1);
  }
  return name;
}

/// Where the texts of all ranks pass through rank 0.
class Rank0Bootstrap final : public Bootstrap {
 public:
  Rank0Bootstrap(Told told, std::chrono::nanoseconds timeout, bool leaves_out_absent)
      : told_(std::move(told)), timeout_(timeout), leaves_out_absent_(leaves_out_absent), messages_(told_.secret) {
    SocketAddress address = address_of_rank0(told_);
    const RunKey key(told_.secret);
    const Deadline deadline = Deadline::after(timeout_);
    if (told_.rank > 0) {
      connect(address, key, deadline);
      return;
    }
    // The own name of a host leads to 127.0.1.1 on some: only what is certain to be the loopback is taken for it.
    const bool is_on_loopback =
        told_.host == "localhost" || (SocketAddress::parse(told_.host, 0) && address.is_loopback());
    if (!is_on_loopback) {
      address = *SocketAddress::parse(address.family() == AF_INET6 ? "::" : "0.0.0.0", told_.port);
    }
    gather_all(address, key, deadline);
  }

  int rank() const override { return told_.rank; }
  int size() const override { return told_.size; }
  std::string launcher() const override { return told_.launcher; }
  std::string_view known_secret() const override { return told_.secret; }
  bool starts_ranks_one_by_one() const override { return told_.are_started_one_by_one; }
  const AbsentHost* absent_host(int rank) const override {
    const auto found = absent_.find(rank);
    return found != absent_.end() ? &found->second : nullptr;
  }
  void joined() override {
    to_root_ = Descriptor();
    others_.clear();
  }

  std::string all_gather(const std::string& own) override {
    const Deadline deadline = Deadline::after(timeout_);
    if (told_.rank == 0) return passed_to_all(own, deadline);
    std::string all = with_root([&] {
      messages_.send(to_root_.fd(), Kind::text, own, deadline);
      return messages_.receive(to_root_.fd(), deadline);
    });
    // Zeros stand for an absent rank, and only the first texts of others are certain to be none.
    if (std::exchange(has_gathered_, true)) return all;
    for (std::size_t rank = 0; rank * own.size() < all.size(); ++rank) {
      const std::string_view text = std::string_view(all).substr(rank * own.size(), own.size());
      if (text.find_first_not_of('\0') == std::string_view::npos) note_absent(static_cast<int>(rank));
    }
    return all;
  }

 private:
  template <class Talk>
  auto with_root(const Talk& talk) const -> decltype(talk()) {
    try {
      return talk();
    } catch (const GatherBroken& broken) {
      throw Error(ExitStatus::run_failed, fmt::format("rank {} has lost rank 0", told_.rank), broken.why,
                  "Look at what rank 0 says");
    }
  }

  void connect(const SocketAddress& address, const RunKey& key, Deadline deadline) {
    to_root_ = dial(address, {Purpose::gather, static_cast<std::uint32_t>(told_.rank), 0}, key, deadline, told_.hint);
    std::string size;
    append(size, static_cast<std::uint32_t>(told_.size));
    with_root([&] { messages_.send(to_root_.fd(), Kind::text, size, deadline); });
  }

  void gather_all(const SocketAddress& address, const RunKey& key, Deadline deadline) {
    if (told_.size == 1) return;
    allow_descriptors(told_.size);
    others_.resize(static_cast<std::size_t>(told_.size));
    HandshakeAcceptor acceptor(listener_at(address), key);
    Arrivals arrivals;
    // Those that have come wait for rank 0 as long as it does for others: it must answer them before.
    const Deadline last_arrival = leaves_out_absent_ ? Deadline::after(timeout_ / 2) : deadline;
    for (int num_missing = told_.size - 1; num_missing > 0;) {
      if (last_arrival.has_passed() && leaves_out_absent_ && num_missing < told_.size - 1) return leave_out_missing();
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

  Descriptor listener_at(const SocketAddress& address) const {
    try {
      return listen_on(address);
    } catch (const Error& error) {
      throw Error(error.status(), error.problem(), error.why(), told_.port_hint);
    }
  }

  void take_in(int rank, Descriptor socket, Deadline deadline) {
    std::string said;
    try {
      said = messages_.receive(socket.fd(), deadline);
    } catch (const GatherBroken& broken) {
      fail(lost_rank(static_cast<std::size_t>(rank), broken));
    }
    const auto size = said.size() == sizeof(std::uint32_t) ? take<std::uint32_t>(said.data()) : 0;
    const bool is_known = rank < told_.size && others_[static_cast<std::size_t>(rank)];
    Descriptor& place =
        rank < told_.size && !is_known ? others_[static_cast<std::size_t>(rank)] : others_.emplace_back();
    place = std::move(socket);
    if (static_cast<int>(size) != told_.size) {
      fail(Error(ExitStatus::bad_command_line, "the ranks do not agree how many they are",
                 fmt::format("{} is {} for rank 0 and {} for rank {}", told_.size_name, told_.size, size, rank),
                 told_.hint));
    }
    if (is_known) {
      fail(Error(ExitStatus::bad_command_line, fmt::format("two processes are rank {}", rank),
                 fmt::format("{} is {} for both", told_.rank_name, rank), told_.hint));
    }
  }

  void note_absent(int rank) {
    absent_.insert({rank, {fmt::format("host-of-rank-{}", rank), "it did not come to rank 0 in time"}});
  }

  void leave_out_missing() {
    for (int rank = 1; rank < told_.size; ++rank) {
      if (!others_[static_cast<std::size_t>(rank)]) note_absent(rank);
    }
  }

  Error absence(int num_missing) const {
    constexpr std::size_t num_named_max = 4;
    std::vector<int> missing;
    for (int rank = 1; rank < told_.size && missing.size() < num_named_max; ++rank) {
      if (!others_[static_cast<std::size_t>(rank)]) missing.push_back(rank);
    }
    return {ExitStatus::run_failed,
            fmt::format("{} of {} ranks did not come within {:.3g} s", num_missing, told_.size, seconds(timeout_)),
            fmt::format("rank {}{}", fmt::join(missing, ", rank "),
                        static_cast<std::size_t>(num_missing) > missing.size() ? " ..." : ""),
            told_.hint};
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
          messages_.send(other.fd(), Kind::error, packed_error(error), Deadline::after(std::chrono::seconds(1)));
      } catch (const GatherBroken&) {
        // That one has gone.
      }
    }
    throw AgreedError(error);
  }

  std::string passed_to_all(const std::string& own, Deadline deadline) const {
    std::string all = own;
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      if (absent_.contains(static_cast<int>(rank))) {
        all.append(own.size(), '\0');
        continue;
      }
      try {
        const std::string text = messages_.receive(others_[rank].fd(), deadline);
        if (text.size() != own.size()) throw GatherBroken{"it sends nonsense"};
        all += text;
      } catch (const GatherBroken& broken) {
        fail(lost_rank(rank, broken));
      }
    }
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      if (absent_.contains(static_cast<int>(rank))) continue;
      try {
        messages_.send(others_[rank].fd(), Kind::text, all, deadline);
      } catch (const GatherBroken& broken) {
        fail(lost_rank(rank, broken));
      }
    }
    return all;
  }

  Told told_;
  std::chrono::nanoseconds timeout_;
  bool leaves_out_absent_, has_gathered_ = false;
  Messages messages_;
  Descriptor to_root_;
  std::vector<Descriptor> others_;  ///< on rank 0, by rank; its own is empty, and those of absent ranks
  std::map<int, AbsentHost> absent_;
};

}  // namespace

bool has_torchrun_variables() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  return is_set("RANK") || (is_set("WORLD_SIZE") && is_set("MASTER_ADDR"));
}

std::unique_ptr<Bootstrap> rank0_bootstrap(std::chrono::nanoseconds timeout, bool leaves_out_absent) {
  Told told = told_by("LEADLINE_SIZE", "LEADLINE_RANK", "LEADLINE_ADDRESS", "environment");
  told.port = static_cast<std::uint16_t>(port_of_variable("LEADLINE_PORT"));
  told.secret = required_secret();
  told.hint =
      "Start every rank with its own LEADLINE_RANK, and with the same LEADLINE_SIZE, LEADLINE_ADDRESS, LEADLINE_PORT "
      "and LEADLINE_SECRET";
  told.port_hint = "Choose another LEADLINE_PORT, and start one rank with LEADLINE_RANK 0";
  told.are_started_one_by_one = true;
  return std::make_unique<Rank0Bootstrap>(std::move(told), timeout, leaves_out_absent);
}

std::unique_ptr<Bootstrap> torchrun_bootstrap(std::chrono::nanoseconds timeout) {
  constexpr int port_offset = 1000;
  Told told = told_by("WORLD_SIZE", "RANK", "MASTER_ADDR", "torchrun");
  const int port = port_of_variable("MASTER_PORT");
  told.port = static_cast<std::uint16_t>(port + (port + port_offset > port_max ? -port_offset : port_offset));
  told.secret = given_secret();
  // Not of the size: where it differs, rank 0 is to hear of it.
  const char* const run = std::getenv("TORCHELASTIC_RUN_ID");
  if (told.secret.empty()) told.secret = fmt::format("{} {} {}", told.host, port, run != nullptr ? run : "");
  told.hint =
      "Start every rank with its own RANK, and with the same WORLD_SIZE, MASTER_ADDR and MASTER_PORT; the port is "
      "MASTER_PORT + 1000";
  told.port_hint = "The port is MASTER_PORT + 1000: choose another MASTER_PORT, and start one rank with RANK 0";
  return std::make_unique<Rank0Bootstrap>(std::move(told), timeout, false);
}

bool has_slurm_step() {
  const char* const num_tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return num_tasks != nullptr && std::string_view(num_tasks) != "1" && std::getenv("SLURM_PROCID") != nullptr &&
         std::getenv("SLURM_STEP_NODELIST") != nullptr;
}

std::unique_ptr<Bootstrap> slurm_step_bootstrap(std::chrono::nanoseconds timeout) {
  constexpr int first_port = 10000, num_ports = 20000;  // below those that the kernel gives to whoever asks for any
  constexpr const char* other_way = "Use srun --mpi=pmix (also for Open MPI) or srun --mpi=pmi2 (also for MPICH)";
  Told told = told_by("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_NODELIST", "Slurm");
  if (told.rank == 0 && number_of_variable("SLURM_NODEID", 0, std::numeric_limits<int>::max(), other_way) > 0) {
    bad_variable("SLURM_NODEID", "task 0 is not on the first node of the step", other_way);
  }
  const std::string nodes = std::exchange(told.host, first_host(told.host));
  const std::string job = text_of_variable("SLURM_JOB_ID", other_way),
                    step = text_of_variable("SLURM_STEP_ID", other_way);
  if (nodes == told.host) told.host = "localhost";
  const std::string run = fmt::format("{} {} {}", job, step, nodes);
  told.port = static_cast<std::uint16_t>(first_port + take<std::uint32_t>(hash_of(run).data()) % num_ports);
  told.secret = given_secret();
  if (told.secret.empty()) told.secret = run;
  told.hint = other_way;
  told.port_hint = other_way;
  return std::make_unique<Rank0Bootstrap>(std::move(told), timeout, false);
}

}  // namespace leadline::cluster
