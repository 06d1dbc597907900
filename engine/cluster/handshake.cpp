// SPDX-License-Identifier: Apache-2.0
// Makes and checks sealed hellos; accepts connections and lets those in that are of the run.
#include "cluster/handshake.hpp"

#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "cluster/bytes.hpp"
#include "cluster/connection.hpp"

namespace leadline::cluster {
namespace {

// Changes with the format of anything that passes on the control plane, so that different builds do not talk.
constexpr std::string_view magic = "leadln02";

std::string body_of(const Hello& hello) {
  std::string body(magic);
  append(body, static_cast<std::uint32_t>(hello.purpose));
  append(body, hello.from);
  append(body, hello.to);
  return body;
}

bool are_equal(const Answer& left, const char* right) { return sodium_memcmp(left.data(), right, left.size()) == 0; }

constexpr auto hello_timeout = std::chrono::seconds(5);
constexpr std::size_t num_pending_max = 64;
// So that a flood of connections cannot keep the watch from its heartbeats.
constexpr int num_accepts_max = 256;
// Without a free descriptor the listener stays readable; polling it would spin.
constexpr auto rest_without_descriptors = std::chrono::milliseconds(100);

}  // namespace

RunKey::RunKey(std::string_view secret) {
  crypto_generichash(key_.data(), key_.size(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
                     nullptr, 0);
}

Answer RunKey::token(Side side, const Hello& hello) const {
  std::string said = body_of(hello);
  append(said, static_cast<std::uint8_t>(side));
  Answer token{};
  crypto_generichash(reinterpret_cast<unsigned char*>(token.data()), token.size(),
                     reinterpret_cast<const unsigned char*>(said.data()), said.size(), key_.data(), key_.size());
  return token;
}

SealedHello RunKey::seal(const Hello& hello) const {
  SealedHello sealed{};
  const std::string body = body_of(hello);
  const Answer proof = token(Side::caller, hello);
  std::copy(proof.begin(), proof.end(), std::copy(body.begin(), body.end(), sealed.begin()));
  return sealed;
}

std::optional<Hello> RunKey::open(const SealedHello& bytes) const {
  Reader reader(std::string_view(bytes.data(), bytes.size()));
  if (reader.text_of(magic.size()) != magic) return std::nullopt;
  const auto purpose = reader.number<std::uint32_t>();
  if (purpose < 1 || purpose > 3) return std::nullopt;
  Hello hello;
  hello.purpose = static_cast<Purpose>(purpose);
  hello.from = reader.number<std::uint32_t>();
  hello.to = reader.number<std::uint32_t>();
  if (!are_equal(token(Side::caller, hello), reader.rest().data())) return std::nullopt;
  return hello;
}

Answer RunKey::answer_to(const Hello& hello) const { return token(Side::called, hello); }

bool RunKey::is_answer_to(const Hello& hello, const Answer& bytes) const {
  return are_equal(token(Side::called, hello), bytes.data());
}

void HandshakeAcceptor::add_to(std::vector<pollfd>& polled) const {
  if (listener_ && rest_until_ <= Clock::now()) polled.push_back({listener_.fd(), POLLIN, 0});
  for (const PendingConnection& pending : pending_connections_) polled.push_back({pending.socket.fd(), POLLIN, 0});
}

HandshakeAcceptor::Clock::time_point HandshakeAcceptor::next_due() const {
  Clock::time_point due = Clock::time_point::max();
  if (!pending_connections_.empty()) due = pending_connections_.front().expires;
  if (rest_until_ > Clock::now()) due = std::min(due, rest_until_);
  return due;
}

void HandshakeAcceptor::accept_all(Clock::time_point now) {
  for (int i = 0; listener_ && i < num_accepts_max; ++i) {
    Descriptor socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      const bool is_out_of_descriptors = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (is_out_of_descriptors && !pending_connections_.empty()) {
        pending_connections_.pop_front();
        continue;
      }
      if (is_out_of_descriptors) rest_until_ = now + rest_without_descriptors;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return;
    }
    if (pending_connections_.size() == num_pending_max) pending_connections_.pop_front();
    pending_connections_.push_back({std::move(socket), now + hello_timeout, {}, 0});
    // Heard at once, so that a caller who has said hello is not driven out by those behind it.
    if (read_hello(pending_connections_.back()) == Verdict::leave) pending_connections_.pop_back();
  }
}

HandshakeAcceptor::Verdict HandshakeAcceptor::read_hello(PendingConnection& pending) const {
  while (pending.num_read < pending.bytes.size()) {
    const ssize_t got = ::recv(pending.socket.fd(), pending.bytes.data() + pending.num_read,
                               pending.bytes.size() - pending.num_read, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Verdict::wait;
    if (got <= 0) return Verdict::leave;
    pending.num_read += static_cast<std::size_t>(got);
  }
  return key_.open(pending.bytes) ? Verdict::admit : Verdict::leave;
}

void HandshakeAcceptor::serve(Clock::time_point now, JoinHandler& join_handler) {
  if (rest_until_ <= now) accept_all(now);
  for (auto pending = pending_connections_.begin(); pending != pending_connections_.end();) {
    const Verdict verdict = read_hello(*pending);
    if (verdict == Verdict::wait && now < pending->expires) {
      ++pending;
      continue;
    }
    if (verdict == Verdict::admit) {
      const Hello hello = *key_.open(pending->bytes);
      const Answer answer = key_.answer_to(hello);
      const int fd = pending->socket.fd();
      if (join_handler.expects(hello) &&
          ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) == ssize_t{answer.size()}) {
        set_no_delay(fd);
        join_handler.admit(hello, std::move(pending->socket));
      }
    }
    pending = pending_connections_.erase(pending);
  }
}

}  // namespace leadline::cluster
