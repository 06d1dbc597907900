// SPDX-License-Identifier: Apache-2.0
// Makes and checks challenges and sealed hellos; accepts connections and lets those in that are of the run.
#include "cluster/handshake.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>

#include "cluster/address.hpp"
#include "cluster/bytes.hpp"
#include "cluster/connection.hpp"
#include "cluster/keyed_hash.hpp"

namespace leadline::cluster {
namespace {

// Changes with the format of anything that passes on the control plane, so that different builds do not talk.
constexpr std::string_view magic = "leadln05";

std::string body_of(const Hello& hello) {
  std::string body(magic);
  append(body, static_cast<std::uint32_t>(hello.purpose));
  append(body, hello.from);
  append(body, hello.to);
  body.append(hello.nonce.data(), hello.nonce.size());
  return body;
}

constexpr auto hello_timeout = std::chrono::seconds(5);
constexpr std::size_t num_pending_max = 64;
// So that a flood of connections cannot keep the watch from its heartbeats.
constexpr int num_accepts_max = 256;
// Without a free descriptor the listener stays readable; polling it would spin.
constexpr auto rest_without_descriptors = std::chrono::milliseconds(100);
constexpr auto shut_patience = std::chrono::seconds(3);

}  // namespace

Nonce new_nonce() {
  Nonce nonce{};
  const std::string bytes = random_bytes(nonce.size());
  std::copy(bytes.begin(), bytes.end(), nonce.begin());
  return nonce;
}

Challenge challenge_of(const Nonce& nonce) {
  Challenge bytes{};
  std::copy(nonce.begin(), nonce.end(), std::copy(magic.begin(), magic.end(), bytes.begin()));
  return bytes;
}

std::optional<Nonce> nonce_of(const Challenge& bytes) {
  if (!std::equal(magic.begin(), magic.end(), bytes.begin())) return std::nullopt;
  Nonce nonce{};
  std::copy(bytes.begin() + magic.size(), bytes.end(), nonce.begin());
  return nonce;
}

RunKey::RunKey(std::string_view secret) : key_(hash_of(secret)) {}

Answer RunKey::token(Side side, const Hello& hello, const Nonce& of_called) const {
  std::string said = body_of(hello);
  said.append(of_called.data(), of_called.size());
  append(said, static_cast<std::uint8_t>(side));
  const std::string hash = hash_of(said, token_size_bytes, key_);
  Answer token{};
  std::copy(hash.begin(), hash.end(), token.begin());
  return token;
}

SealedHello RunKey::seal(const Hello& hello, const Nonce& of_called) const {
  SealedHello sealed{};
  const std::string body = body_of(hello);
  const Answer proof = token(Side::caller, hello, of_called);
  std::copy(proof.begin(), proof.end(), std::copy(body.begin(), body.end(), sealed.begin()));
  return sealed;
}

std::optional<Hello> RunKey::open(const SealedHello& bytes, const Nonce& of_called) const {
  Reader reader(std::string_view(bytes.data(), bytes.size()));
  if (reader.text_of(magic.size()) != magic) return std::nullopt;
  const auto purpose = reader.number<std::uint32_t>();
  if (purpose < 1 || purpose > 6) return std::nullopt;
  Hello hello;
  hello.purpose = static_cast<Purpose>(purpose);
  hello.from = reader.number<std::uint32_t>();
  hello.to = reader.number<std::uint32_t>();
  const std::string_view nonce = reader.text_of(hello.nonce.size());
  std::copy(nonce.begin(), nonce.end(), hello.nonce.begin());
  const Answer expected = token(Side::caller, hello, of_called);
  if (!are_equal({expected.data(), expected.size()}, reader.rest())) return std::nullopt;
  return hello;
}

Answer RunKey::answer_to(const Hello& hello, const Nonce& of_called) const {
  return token(Side::called, hello, of_called);
}

bool RunKey::is_answer_to(const Hello& hello, const Nonce& of_called, const Answer& bytes) const {
  const Answer expected = token(Side::called, hello, of_called);
  return are_equal({expected.data(), expected.size()}, {bytes.data(), bytes.size()});
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
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    auto* const from = reinterpret_cast<sockaddr*>(&address);
    Descriptor socket(::accept4(listener_.fd(), from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      const int error_number = errno;
      const bool is_full = is_out_of_descriptors(error_number) || error_number == ENOBUFS || error_number == ENOMEM;
      pollfd listening{listener_.fd(), POLLIN, 0};  // accept4 says that it has no descriptor even where nobody waits
      if (is_full && ::poll(&listening, 1, 0) > 0) {
        const bool is_old = !pending_connections_.empty() &&
                            now > pending_connections_.front().expires - hello_timeout + rest_without_descriptors;
        if (is_old) {
          close_one();
          continue;
        }
        rest_until_ = now + rest_without_descriptors;
        if (!shut_since_) shut_since_ = now;
        if (is_out_of_descriptors(error_number) && now - *shut_since_ > shut_patience) {
          throw_out_of_descriptors(error_number);
        }
        return;
      }
      if (error_number == ECONNABORTED || error_number == EINTR) continue;
      shut_since_.reset();
      return;
    }
    if (pending_connections_.size() == num_pending_max) close_one();
    const int fd = socket.fd();
    pending_connections_.push_back({std::move(socket), SocketAddress(from).host_text(), now + hello_timeout});
    const Challenge challenge = challenge_of(pending_connections_.back().nonce);
    if (::send(fd, challenge.data(), challenge.size(), MSG_NOSIGNAL) != ssize_t{challenge.size()}) {
      pending_connections_.pop_back();
    }
  }
}

/// So that a flood from one address does not keep out the ranks on others.
void HandshakeAcceptor::close_one() {
  std::map<std::string_view, int> num_from;
  int most = 0;
  for (const PendingConnection& pending : pending_connections_) most = std::max(most, ++num_from[pending.from]);
  const auto one = std::find_if(pending_connections_.begin(), pending_connections_.end(),
                                [&](const PendingConnection& pending) { return num_from[pending.from] == most; });
  if (one != pending_connections_.end()) pending_connections_.erase(one);
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
  return key_.open(pending.bytes, pending.nonce) ? Verdict::admit : Verdict::leave;
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
      const Hello hello = *key_.open(pending->bytes, pending->nonce);
      const Answer answer = key_.answer_to(hello, pending->nonce);
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
