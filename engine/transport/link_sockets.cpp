// SPDX-License-Identifier: Apache-2.0
// Keeps the sockets of open links, and makes the loop of a rank to itself.
#include "transport/link_sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "transport/socket_link.hpp"

namespace leadline::transport {
namespace {

using namespace std::chrono_literals;

/// Whatever the limit of open files. Guessed.
constexpr rlim_t link_cap = 1024;

constexpr std::uint64_t loss_check_interval_ns = 10'000'000;

enum class Greeting { answered, closed };

[[noreturn]] void throw_silent(int partner) {
  throw cluster::ConnectionLost(partner, "rank " + std::to_string(partner) + " did not answer in time",
                                "no greeting came over its TCP link");
}

/// One byte each way. Without a deadline, until the partner comes or the connection ends.
Greeting greet(int fd, int partner, std::optional<Deadline> deadline, const ProgressFunction& progress) {
  const char out = 1;
  if (::send(fd, &out, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return Greeting::closed;
  for (;;) {
    pollfd wanted{fd, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, deadline.value_or(Deadline::after(1s)).left_ms(progress));
    if (ready < 0 && errno != EINTR) return Greeting::closed;
    if (ready == 0 && deadline && deadline->has_passed()) throw_silent(partner);
    if (ready == 0 && progress) progress();
    if (ready <= 0) continue;
    char in = 0;
    return ::recv(fd, &in, 1, MSG_DONTWAIT) == 1 ? Greeting::answered : Greeting::closed;
  }
}

/// See tcp(7): the user timeout is for what was sent, and for probes where nothing was, which the other end's kernel
/// answers whatever its process does.
void set_silence_limit(int fd, std::chrono::milliseconds limit) {
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); };
  const int probe_s = std::max(1, static_cast<int>(limit.count() / 3000));
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(limit.count()));
  set(IPPROTO_TCP, TCP_KEEPIDLE, probe_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, probe_s);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

[[noreturn]] void throw_no_loop() {
  throw Error(ExitStatus::run_failed, "cannot open a TCP link from this rank to itself", system_error_text(errno));
}

[[noreturn]] void throw_too_many(std::size_t num_links, std::size_t limit) {
  throw Error(ExitStatus::something_missing,
              "an exchange with so many partners needs " + std::to_string(num_links) + " links at once",
              "this process keeps at most " + std::to_string(limit) + " open",
              "Up to " + std::to_string(link_cap) + " are kept where the limit of open files (ulimit -n) allows it");
}

bool same_port(const sockaddr_in& left, const sockaddr_in& right) { return left.sin_port == right.sin_port; }

}  // namespace

std::size_t link_limit(std::size_t files_a_link) {
  constexpr rlim_t left_to_others = 64;  // control plane, result file, libraries: guessed, with room to spare
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return link_cap;
  if (limit.rlim_cur < left_to_others + files_a_link) return 1;
  return std::min((limit.rlim_cur - left_to_others) / files_a_link, link_cap);
}

LinkSockets::LinkSockets(int own_rank, int num_ranks, cluster::Rendezvous& rendezvous, std::size_t limit,
                         std::optional<DataNetwork> network, ProgressFunction progress)
    : own_rank_(own_rank),
      rendezvous_(rendezvous),
      limit_(limit),
      network_(std::move(network)),
      progress_(std::move(progress)),
      barrier_partners_(kernel::barrier_partners(own_rank, num_ranks)) {}

Connected LinkSockets::connect(int partner, Deadline deadline) {
  if (partner == own_rank_) {
    const Connected connected = loop_out_ ? Connected::again : Connected::anew;
    if (!loop_out_) open_loop(deadline);
    return connected;
  }
  const std::chrono::milliseconds patience(deadline.left_ms());
  if (const auto found = open_.begin() + (find(partner) - open_.cbegin()); found != open_.end()) {
    if (greet(found->socket.fd(), partner, greeting_deadline(deadline), progress_) == Greeting::answered) {
      std::rotate(found, found + 1, open_.end());
      return Connected::again;
    }
    open_.erase(found);
    if (gives_up_silent_links()) deadline = Deadline::after(patience);
  }
  make_room();
  OpenLink link = greeted(partner, rendezvous_.meet(partner, deadline, progress_), deadline);
  if (network_) {
    // Both are here now: what comes late from here on, the network does not let through.
    if (gives_up_silent_links()) deadline = Deadline::after(patience);
    link = greeted(partner, network_->connect(own_rank_, partner, link.socket, deadline), deadline);
  }
  open_.push_back(std::move(link));
  given_up_.erase(partner);
  return Connected::anew;
}

/// A link that is known to the watch before it is waited on.
LinkSockets::OpenLink LinkSockets::greeted(int partner, Descriptor socket, Deadline deadline) {
  if (gives_up_silent_links()) set_silence_limit(socket.fd(), silence_limit_);
  OpenLink link{partner, std::move(socket)};
  if (auto* const sockets = rendezvous_.data_sockets()) link.entry = {*sockets, partner, link.socket.fd()};
  if (greet(link.socket.fd(), partner, greeting_deadline(deadline), progress_) == Greeting::closed) {
    throw_lost(partner, 0);
  }
  return link;
}

std::optional<Deadline> LinkSockets::greeting_deadline(Deadline deadline) const {
  return gives_up_silent_links() ? std::nullopt : std::optional(deadline);
}

std::vector<Resent> LinkSockets::resent() {
  std::vector<Resent> all;
  for (OpenLink& link : open_) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(link.socket.fd(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) continue;
    const std::uint64_t before = std::exchange(link.num_resent, info.tcpi_total_retrans);
    if (link.num_resent > before) all.push_back({link.partner, link.num_resent - before});
  }
  return all;
}

void LinkSockets::drop(int partner) {
  given_up_.insert(partner);
  std::erase_if(open_, [&](const OpenLink& link) { return link.partner == partner; });
}

void LinkSockets::shut(int partner) const {
  if (const auto found = find(partner); found != open_.end()) ::shutdown(found->socket.fd(), SHUT_RDWR);
}

void LinkSockets::make_room() {
  if (open_.size() < limit_) return;
  const auto first = std::find_if(open_.begin(), open_.end(), [&](const OpenLink& link) {
    return !std::binary_search(barrier_partners_.begin(), barrier_partners_.end(), link.partner);
  });
  open_.erase(first != open_.end() ? first : open_.begin());
}

LinkEnds LinkSockets::ends(int partner) const {
  if (partner == own_rank_) return {loop_out_.fd(), loop_in_.fd()};
  const auto found = find(partner);
  assert(found != open_.end() && "connect() comes before everything else");
  return {found->socket.fd(), found->socket.fd()};
}

std::vector<LinkEnds> LinkSockets::all_ends(std::span<const std::int32_t> partners) const {
  std::vector<LinkEnds> all(partners.size());
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] < 0) continue;
    if (partners[i] != own_rank_ && find(partners[i]) == open_.end()) {
      if (given_up_.contains(partners[i])) continue;
      throw_too_many(partners.size(), limit_);
    }
    all[i] = ends(partners[i]);
  }
  return all;
}

std::function<void()> LinkSockets::loss_check(std::span<const std::int32_t> partners) const {
  std::vector<pollfd> sockets;
  std::vector<int> ranks;
  for (const std::int32_t partner : partners) {
    const auto found = find(partner);
    if (found == open_.end()) continue;
    sockets.push_back({found->socket.fd(), POLLRDHUP, 0});
    ranks.push_back(partner);
  }
  return [sockets, ranks, last_ns = now_ns()]() mutable {
    const std::uint64_t time_ns = now_ns();
    if (time_ns - last_ns < loss_check_interval_ns) return;
    last_ns = time_ns;
    if (::poll(sockets.data(), sockets.size(), 0) <= 0) return;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      const int ended = std::exchange(sockets[i].fd, -1);
      int error_number = 0;
      socklen_t length = sizeof error_number;
      ::getsockopt(ended, SOL_SOCKET, SO_ERROR, &error_number, &length);
      throw_lost(ranks[i], error_number);
    }
  };
}

std::vector<LinkSockets::OpenLink>::const_iterator LinkSockets::find(int partner) const {
  return std::find_if(open_.begin(), open_.end(), [&](const OpenLink& link) { return link.partner == partner; });
}

void LinkSockets::open_loop(Deadline deadline) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);

  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Descriptor out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener || !out || ::bind(listener.fd(), name, length) != 0 || ::listen(listener.fd(), 1) != 0 ||
      ::getsockname(listener.fd(), name, &length) != 0 || ::connect(out.fd(), name, length) != 0) {
    throw_no_loop();
  }
  sockaddr_in own{};
  length = sizeof own;
  if (::getsockname(out.fd(), reinterpret_cast<sockaddr*>(&own), &length) != 0) throw_no_loop();

  // Whoever else dials this port in the meantime is hung up on.
  while (!deadline.has_passed()) {
    pollfd wanted{listener.fd(), POLLIN, 0};
    if (::poll(&wanted, 1, deadline.left_ms()) <= 0) continue;
    sockaddr_in peer{};
    length = sizeof peer;
    Descriptor in(::accept4(listener.fd(), reinterpret_cast<sockaddr*>(&peer), &length, SOCK_CLOEXEC));
    if (!in || !same_port(peer, own)) continue;
    const int on = 1;
    ::setsockopt(out.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(in.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    loop_out_ = std::move(out);
    loop_in_ = std::move(in);
    return;
  }
  throw_silent(own_rank_);
}

}  // namespace leadline::transport
