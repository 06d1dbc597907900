// SPDX-License-Identifier: Apache-2.0
// The first bytes on every connection: a challenge, who calls whom for what with a proof of knowing the secret of the
// run, and the side that checks both.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"

namespace leadline::cluster {

enum class Purpose : std::uint8_t {
  collectives = 1,  ///< tree edge, child to parent, or to the root where the parent is lost
  watch = 2,        ///< the same
  peer = 3,         ///< Rendezvous::meet, lower rank to higher
  probe = 4,        ///< only to see whether the rank answers
  relay = 5,        ///< to the root through a rank that reaches it: all further bytes are passed on
  gather = 6,       ///< to rank 0, before there is a tree: see rank0_bootstrap.hpp
};

using Nonce = std::array<char, 16>;
/// Random, and so never the same twice.
Nonce new_nonce();

struct Hello {
  Purpose purpose = Purpose::peer;
  std::uint32_t from = 0, to = 0;
  Nonce nonce{};  ///< of the one who calls
};

inline constexpr std::size_t magic_size_bytes = 8, token_size_bytes = 32;
inline constexpr std::size_t challenge_size_bytes = magic_size_bytes + sizeof(Nonce);
inline constexpr std::size_t hello_size_bytes = magic_size_bytes + 12 + sizeof(Nonce) + token_size_bytes;
using Challenge = std::array<char, challenge_size_bytes>;
using SealedHello = std::array<char, hello_size_bytes>;
using Answer = std::array<char, token_size_bytes>;

/// What the one who is called sends first.
Challenge challenge_of(const Nonce& nonce);
/// Nothing where the bytes are of something else, or of another version of this program.
std::optional<Nonce> nonce_of(const Challenge& bytes);

/// What the secret is good for. The one who is called sends a challenge, the one who calls a sealed hello, the one who
/// is called the answer, and only then counts the connection as made. Each side proves that it knows the secret over
/// the nonces of both, so neither can be answered with bytes of an earlier connection.
class RunKey {
 public:
  explicit RunKey(std::string_view secret);

  SealedHello seal(const Hello& hello, const Nonce& of_called) const;
  /// Nothing where the bytes are not a hello of this run to this challenge; takes the same time for every wrong token.
  std::optional<Hello> open(const SealedHello& bytes, const Nonce& of_called) const;
  Answer answer_to(const Hello& hello, const Nonce& of_called) const;
  bool is_answer_to(const Hello& hello, const Nonce& of_called, const Answer& bytes) const;

 private:
  enum class Side : std::uint8_t { caller = 1, called = 2 };
  Answer token(Side side, const Hello& hello, const Nonce& of_called) const;
  std::string key_;
};

/// Who is expected, and what becomes of a connection that was let in.
class JoinHandler {
 public:
  virtual ~JoinHandler() = default;
  virtual bool expects(const Hello& hello) const = 0;
  virtual void admit(const Hello& hello, Descriptor socket) = 0;
};

/// Nothing here blocks. A client that sends nothing, or nonsense, occupies one descriptor for a few seconds. When too
/// many have not said hello yet, the oldest of the address that has the most of them is closed (a rank of the run
/// connects again).
class HandshakeAcceptor {
 public:
  using Clock = std::chrono::steady_clock;

  HandshakeAcceptor(Descriptor listener, RunKey key) : listener_(std::move(listener)), key_(std::move(key)) {}

  /// What to poll for.
  void add_to(std::vector<pollfd>& polled) const;
  /// When serve must run even if nothing came.
  Clock::time_point next_due() const;
  /// Throws Error(something_missing) where the limit of open files has kept everybody out for some seconds.
  void serve(Clock::time_point now, JoinHandler& join_handler);

 private:
  struct PendingConnection {
    Descriptor socket;
    std::string from;  ///< the address
    Clock::time_point expires;
    Nonce nonce = new_nonce();
    SealedHello bytes{};
    std::size_t num_read = 0;
  };
  enum class Verdict { wait, leave, admit };

  void accept_all(Clock::time_point now);
  void close_one();
  Verdict read_hello(PendingConnection& pending) const;

  Descriptor listener_;
  RunKey key_;
  std::list<PendingConnection> pending_connections_;  ///< oldest first
  Clock::time_point rest_until_{};
  std::optional<Clock::time_point> shut_since_;  ///< nobody can be let in for want of descriptors
};

}  // namespace leadline::cluster
