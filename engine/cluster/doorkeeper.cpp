// SPDX-License-Identifier: Apache-2.0
// Accepting connections and hearing their hello, without ever waiting for one.
#include "cluster/doorkeeper.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "cluster/listener.hpp"

namespace leadline::cluster {
namespace {

constexpr auto patience = std::chrono::seconds(5);
constexpr std::size_t num_visitors_max = 64;
// So that a flood of connections cannot keep the watch from its heartbeats.
constexpr int num_accepts_max = 256;
// Without a free descriptor the listener stays readable; polling it would spin.
constexpr auto rest_without_descriptors = std::chrono::milliseconds(100);

}  // namespace

void Doorkeeper::add_to(std::vector<pollfd>& polled) const {
  if (listener_ && rest_until_ <= Clock::now()) polled.push_back({listener_.fd(), POLLIN, 0});
  for (const Visitor& visitor : visitors_) polled.push_back({visitor.socket.fd(), POLLIN, 0});
}

Doorkeeper::Clock::time_point Doorkeeper::next_due() const {
  Clock::time_point due = Clock::time_point::max();
  if (!visitors_.empty()) due = visitors_.front().patience_ends;
  if (rest_until_ > Clock::now()) due = std::min(due, rest_until_);
  return due;
}

void Doorkeeper::accept_all(Clock::time_point now) {
  for (int i = 0; listener_ && i < num_accepts_max; ++i) {
    Socket socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      const bool is_out_of_descriptors = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (is_out_of_descriptors && !visitors_.empty()) {
        visitors_.pop_front();
        continue;
      }
      if (is_out_of_descriptors) rest_until_ = now + rest_without_descriptors;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return;
    }
    if (visitors_.size() == num_visitors_max) visitors_.pop_front();
    visitors_.push_back({std::move(socket), now + patience, {}, 0});
    // Heard at once, so that a caller who has said hello is not driven out by those behind it.
    if (hear(visitors_.back()) == Verdict::leave) visitors_.pop_back();
  }
}

Doorkeeper::Verdict Doorkeeper::hear(Visitor& visitor) const {
  while (visitor.num_read < visitor.bytes.size()) {
    const ssize_t got = ::recv(visitor.socket.fd(), visitor.bytes.data() + visitor.num_read,
                               visitor.bytes.size() - visitor.num_read, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Verdict::wait;
    if (got <= 0) return Verdict::leave;
    visitor.num_read += static_cast<std::size_t>(got);
  }
  return key_.open(visitor.bytes) ? Verdict::admit : Verdict::leave;
}

void Doorkeeper::serve(Clock::time_point now, Guests& guests) {
  if (rest_until_ <= now) accept_all(now);
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    const Verdict verdict = hear(*visitor);
    if (verdict == Verdict::wait && now < visitor->patience_ends) {
      ++visitor;
      continue;
    }
    if (verdict == Verdict::admit) {
      const Hello hello = *key_.open(visitor->bytes);
      const Answer answer = key_.answer_to(hello);
      const int fd = visitor->socket.fd();
      if (guests.expects(hello) && ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) == ssize_t{answer.size()}) {
        set_no_delay(fd);
        guests.admit(hello, std::move(visitor->socket));
      }
    }
    visitor = visitors_.erase(visitor);
  }
}

}  // namespace leadline::cluster
