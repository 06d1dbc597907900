// SPDX-License-Identifier: Apache-2.0
// A rank that lost its parent and asks the root for the result of a collective, which may be over there.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"

namespace leadline::cluster {

/// Of the last collective that is over on a rank.
struct LastResult {
  std::uint32_t sequence = 0;
  std::string text;
};

/// The root's end of its connection, until the measuring thread has to take part. Nothing here blocks.
class Orphan {
 public:
  /// Whether it says first what the last result was that it got from the root before; it may say so again.
  enum class Begins : std::uint8_t { with_collective, with_last_result };

  Orphan(int rank, Descriptor socket, Begins begins)
      : rank_(rank),
        socket_(std::move(socket)),
        state_(begins == Begins::with_last_result ? State::telling : State::silent) {}

  int rank() const { return rank_; }
  /// What to poll for; nothing while it waits for a collective to end.
  void add_to(std::vector<pollfd>& polled) const;
  /// Finds out which collective it asks for, and answers where that is over.
  void serve(const LastResult* last);
  /// It has its answer: what comes next is for the collective after it.
  bool is_answered() const { return state_ == State::answered; }
  /// It asks for a collective that is not over; nothing is read yet.
  bool is_waiting() const { return state_ == State::waiting; }
  /// What it brought along, once.
  std::optional<LastResult> take_last_result() { return std::exchange(last_result_, {}); }
  /// For the measuring thread; is_gone() from then on.
  Descriptor take() { return std::exchange(socket_, {}); }
  bool is_gone() const { return state_ == State::ended || !socket_; }

 private:
  enum class State { telling, silent, waiting, reading, writing, answered, ended };

  void hear_last_result();
  void peek();
  void read();
  void write();

  int rank_;
  Descriptor socket_;
  State state_;
  std::optional<LastResult> last_result_;
  std::string header_;  ///< of its frame; goes back with the answer
  std::string told_;    ///< of the frame with its last result
  std::size_t num_left_ = 0;
  std::string answer_;  ///< what is still to be sent
};

}  // namespace leadline::cluster
