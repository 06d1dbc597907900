// SPDX-License-Identifier: Apache-2.0
// Listens; connects, and tries again, since the other rank may start later, or be busy with connections of others.
#include "cluster/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cluster/rendezvous.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

[[noreturn]] void cannot_listen(const SocketAddress& address, int error_number) {
  const std::string place = address.port() != 0 ? address.text() : address.host_text();
  const char* hint = "Check the addresses and ports of the run";
  if (error_number == EADDRINUSE) hint = "another program, or another run, has that port: choose a free one";
  if (error_number == EADDRNOTAVAIL) hint = "that address is not one of this host";
  if (is_out_of_descriptors(error_number)) hint = more_descriptors;
  if (error_number == EACCES) hint = "ports below 1024 are for root: choose a higher one";
  throw Error(ExitStatus::run_failed, fmt::format("cannot listen on {}", place), system_error_text(error_number), hint);
}

constexpr const char* no_answer = "it does not answer";
constexpr const char* turned_away = "it turns us away";
// An attempt that the deadline cuts shorter than this says nothing new.
constexpr auto short_attempt = std::chrono::seconds(1);

/// Whether something happened before the deadline, or within a second.
bool wait_for(int fd, short events, Deadline deadline, int most_ms = 1000) {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, deadline.left_ms(most_ms)) > 0;
}

/// Reads on in `bytes`; false where the connection has ended.
template <std::size_t size>
bool read_on(int fd, std::array<char, size>& bytes, std::size_t& num_read) {
  while (num_read < size) {
    const ssize_t got = ::recv(fd, bytes.data() + num_read, size - num_read, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    num_read += static_cast<std::size_t>(got);
  }
  return true;
}

/// All zero where there is none.
tcp_info info_of(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info : tcp_info{};
}

Descriptor started(const SocketAddress& address, const std::optional<SocketAddress>& from, int& error_number) {
  Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error_number = socket ? 0 : errno;
  if (is_out_of_descriptors(error_number)) throw_out_of_descriptors(error_number);
  if (error_number == 0 && from) error_number = ::bind(socket.fd(), from->get(), from->length()) == 0 ? 0 : errno;
  if (error_number == 0) {
    error_number = ::connect(socket.fd(), address.get(), address.length()) == 0 ? 0 : errno;
  }
  return socket;
}

int pending_error(int fd) {
  int error_number = 0;
  socklen_t length = sizeof error_number;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &length);
  return error_number;
}

auto moment_of(Deadline deadline, const ProgressFunction& progress = {}) {
  return Deadline::Clock::now() + std::chrono::milliseconds(deadline.left_ms(progress));
}

}  // namespace

ConnectionLost ConnectionLost::of_socket(int partner, int error_number) {
  ConnectionLost lost(partner, fmt::format("lost the connection to rank {}", partner),
                      error_number == 0 ? "the other end closed it" : system_error_text(error_number));
  lost.partner_ended_it_ = error_number == 0 || error_number == ECONNRESET || error_number == EPIPE;
  return lost;
}

void throw_out_of_descriptors(int error_number) {
  throw Error(ExitStatus::something_missing, "this process cannot have another connection",
              system_error_text(error_number), more_descriptors);
}

void allow_descriptors(int num_ranks) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(num_ranks) + 256));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Descriptor listen_on(const SocketAddress& address) {
  Descriptor listener(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) cannot_listen(address, errno);
  const int yes = 1;  // otherwise a port stays refused for a minute after a run
  ::setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.family() == AF_INET6) ::setsockopt(listener.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (::bind(listener.fd(), address.get(), address.length()) != 0) cannot_listen(address, errno);
  if (::listen(listener.fd(), SOMAXCONN) != 0) cannot_listen(address, errno);
  return listener;
}

void set_blocking(int fd, Blocking blocking) {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, blocking == Blocking::yes ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

void set_no_delay(int fd) {
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

std::uint32_t num_resent(int fd) { return info_of(fd).tcpi_total_retrans; }

std::uint32_t num_resent_in_vain(int fd) { return info_of(fd).tcpi_retransmits; }

Descriptor connect_to(const SocketAddress& address, const std::optional<SocketAddress>& from, Deadline deadline,
                      std::string& why) {
  int error_number = 0;
  Descriptor socket = started(address, from, error_number);
  while (error_number == EINPROGRESS) {
    if (wait_for(socket.fd(), POLLOUT, deadline)) {
      error_number = pending_error(socket.fd());
    } else if (deadline.has_passed()) {
      break;
    }
  }
  if (error_number == 0) return socket;
  why = error_number == EINPROGRESS ? no_answer : system_error_text(error_number);
  return {};
}

Call::Call(const SocketAddress& address, const Hello& hello, RunKey key)
    : hello_(hello), key_(std::move(key)), why_(no_answer) {
  hello_.nonce = new_nonce();
  int error_number = 0;
  socket_ = started(address, std::nullopt, error_number);
  was_refused_ = error_number == ECONNREFUSED;
  if (error_number != 0 && error_number != EINPROGRESS) fail(system_error_text(error_number));
}

Call::Call(Descriptor relayed, const Hello& hello, RunKey key)
    : hello_(hello),
      key_(std::move(key)),
      state_(State::connected),
      was_connected_(true),
      why_(no_answer),
      socket_(std::move(relayed)) {
  hello_.nonce = new_nonce();
}

void Call::fail(std::string why) {
  state_ = State::failed;
  why_ = std::move(why);
}

Call::State Call::advance() {
  if (state_ == State::connecting) {
    pollfd one{socket_.fd(), POLLOUT, 0};
    if (::poll(&one, 1, 0) <= 0) return state_;
    const int error_number = pending_error(socket_.fd());
    if (error_number != 0) {
      was_refused_ = error_number == ECONNREFUSED;
      was_connected_ = error_number == ECONNRESET;  // its process was about to end
      fail(system_error_text(error_number));
      return state_;
    }
    state_ = State::connected;
    was_connected_ = true;
  }
  if (state_ == State::connected) hear_challenge();
  if (state_ == State::said) hear_answer();
  return state_;
}

void Call::hear_challenge() {
  if (!read_on(socket_.fd(), challenge_, num_read_)) return fail(turned_away);
  if (num_read_ < challenge_.size()) return;
  const auto nonce = nonce_of(challenge_);
  if (!nonce) return fail("something else answers there, or another version of this program");
  of_called_ = *nonce;
  num_read_ = 0;
  state_ = State::said;
  set_no_delay(socket_.fd());
  const SealedHello sealed = key_.seal(hello_, of_called_);
  // A new connection takes these few bytes at once; where it is already broken, hear_answer sees it.
  (void)!::send(socket_.fd(), sealed.data(), sealed.size(), MSG_NOSIGNAL);
}

void Call::hear_answer() {
  if (!read_on(socket_.fd(), answer_, num_read_)) return fail(turned_away);
  if (num_read_ < answer_.size()) return;
  if (!key_.is_answer_to(hello_, of_called_, answer_)) return fail("something else answers there");
  state_ = State::answered;
}

Descriptor dial(const SocketAddress& address, const Hello& hello, const RunKey& key, Deadline deadline,
                const std::string& hint, const std::function<bool()>& is_given_up) {
  constexpr int pause_max_ms = 100;
  const auto is_over = [&] { return deadline.has_passed() || (is_given_up && is_given_up()); };
  std::string why;
  for (int pause_ms = 1;; pause_ms = std::min(2 * pause_ms, pause_max_ms)) {
    const auto begin = Deadline::Clock::now();
    Call call(address, hello, key);
    // Until the deadline and no less: a caller that gives up earlier leaves the other side with a connection that
    // looks established.
    while (!call.is_over() && !is_over()) {
      wait_for(call.fd(), call.events(), deadline, pause_max_ms);
      call.advance();
    }
    if (call.state() == Call::State::answered) return call.take();
    const bool is_cut_short = !call.is_over() && Deadline::Clock::now() - begin < short_attempt;
    if (why.empty() || !is_cut_short) why = call.why();
    if (is_over()) break;
    ::poll(nullptr, 0, deadline.left_ms(pause_ms));
  }
  throw ConnectionLost(static_cast<int>(hello.to),
                       fmt::format("rank {} cannot reach rank {} at {}", hello.from, hello.to, address.text()), why,
                       hint);
}

void ConnectionQueue::leave(Purpose purpose, int from, Descriptor socket) {
  const std::lock_guard lock(mutex_);
  if (purpose != Purpose::peer) seen_.insert({purpose, from});
  std::deque<Descriptor>& of_caller = waiting_[{purpose, from}];
  if (of_caller.size() == max_waiting_per_caller) of_caller.pop_front();
  of_caller.push_back(std::move(socket));
  changed_.notify_all();
}

Descriptor ConnectionQueue::take(Purpose purpose, int from, Deadline deadline, const ProgressFunction& progress) {
  std::unique_lock lock(mutex_);
  auto entry = waiting_.end();
  const auto has_come = [&] { return (entry = waiting_.find({purpose, from})) != waiting_.end(); };
  const auto is_over = [&] { return has_come() || given_up_.contains(from); };
  while (!changed_.wait_until(lock, moment_of(deadline, progress), is_over)) {
    if (deadline.has_passed()) return {};
    if (!progress) continue;
    lock.unlock();
    progress();
    lock.lock();
  }
  if (entry == waiting_.end()) return {};
  Descriptor socket = std::move(entry->second.front());
  entry->second.pop_front();
  if (entry->second.empty()) waiting_.erase(entry);
  return socket;
}

void ConnectionQueue::give_up(int rank) {
  const std::lock_guard lock(mutex_);
  given_up_.insert(rank);
  changed_.notify_all();
}

bool ConnectionQueue::has_given_up(int rank) const {
  const std::lock_guard lock(mutex_);
  return given_up_.contains(rank);
}

void ConnectionQueue::note_watch_edge(int from) {
  const std::lock_guard lock(mutex_);
  seen_.insert({Purpose::watch, from});
  changed_.notify_all();
}

void ConnectionQueue::note_host(int rank) {
  const std::lock_guard lock(mutex_);
  with_host_.insert(rank);
  changed_.notify_all();
}

bool ConnectionQueue::await_host(int rank, Deadline deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, moment_of(deadline), [&] { return with_host_.contains(rank); });
}

bool ConnectionQueue::has_seen(Purpose purpose, int from) const {
  const std::lock_guard lock(mutex_);
  return seen_.contains({purpose, from});
}

}  // namespace leadline::cluster
