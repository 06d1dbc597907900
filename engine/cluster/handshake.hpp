// SPDX-License-Identifier: Apache-2.0
// The first bytes on every connection: who calls whom for what, a proof of knowing the secret of the run, and the side
// that checks both.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"

namespace leadline::cluster {

enum class Purpose : std::uint8_t {
  collectives = 1,  ///< tree edge, child to parent
  watch = 2,        ///< tree edge, child to parent
  peer = 3,         ///< Rendezvous::meet, lower rank to higher
};

struct Hello {
  Purpose purpose = Purpose::peer;
  std::uint32_t from = 0, to = 0;
};

inline constexpr std::size_t token_size_bytes = 32;
inline constexpr std::size_t hello_size_bytes = 20 + token_size_bytes;
using SealedHello = std::array<char, hello_size_bytes>;
using Answer = std::array<char, token_size_bytes>;

/// What the secret is good for. The one who calls sends a sealed hello, the one who is called sends the answer
/// and only then counts the connection as made. Who does not know the secret can make neither.
class RunKey {
 public:
  explicit RunKey(std::string_view secret);

  SealedHello seal(const Hello& hello) const;
  /// Nothing where the bytes are not a hello of this run; takes the same time for every wrong token.
  std::optional<Hello> open(const SealedHello& bytes) const;
  Answer answer_to(const Hello& hello) const;
  bool is_answer_to(const Hello& hello, const Answer& bytes) const;

 private:
  enum class Side : std::uint8_t { caller = 1, called = 2 };
  Answer token(Side side, const Hello& hello) const;
  std::array<unsigned char, 32> key_{};
};

/// Who is expected, and what becomes of a connection that was let in.
class JoinHandler {
 public:
  virtual ~JoinHandler() = default;
  virtual bool expects(const Hello& hello) const = 0;
  virtual void admit(const Hello& hello, Descriptor socket) = 0;
};

/// Nothing here blocks. A client that sends nothing, or nonsense, occupies one descriptor for a few seconds; of those
/// who have not said hello yet the oldest is closed when there are too many (a rank of the run connects again).
class HandshakeAcceptor {
 public:
  using Clock = std::chrono::steady_clock;

  HandshakeAcceptor(Descriptor listener, RunKey key) : listener_(std::move(listener)), key_(key) {}

  /// What to poll for.
  void add_to(std::vector<pollfd>& polled) const;
  /// When serve must run even if nothing came.
  Clock::time_point next_due() const;
  void serve(Clock::time_point now, JoinHandler& join_handler);

 private:
  struct PendingConnection {
    Descriptor socket;
    Clock::time_point expires;
    SealedHello bytes{};
    std::size_t num_read = 0;
  };
  enum class Verdict { wait, leave, admit };

  void accept_all(Clock::time_point now);
  Verdict read_hello(PendingConnection& pending) const;

  Descriptor listener_;
  RunKey key_;
  std::list<PendingConnection> pending_connections_;  ///< oldest first
  Clock::time_point rest_until_{};
};

}  // namespace leadline::cluster
