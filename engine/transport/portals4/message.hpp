// SPDX-License-Identifier: Apache-2.0
// One message under way, lines of messages that wait, and the way to another rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "transport/portals4/library.hpp"

namespace leadline::transport::portals4 {

struct PeerChannel;

/// A send or a receive; the library holds its address while events are awaited.
struct Message {
  Message* next = nullptr;  ///< in a Line
  PeerChannel* channel = nullptr;
  std::uint64_t turn = 0;  ///< of a send: its place among those to one rank
  ptl_match_bits_t bits = 0;
  ptl_handle_md_t memory{};
  ptl_size_t offset = 0;      ///< of `data` in that memory
  std::byte* data = nullptr;  ///< of a send: only read
  std::size_t size = 0;
  std::uint64_t key = 0;      ///< of a long message: the match bits under which it is fetched; 0 = a short one
  ptl_handle_me_t exposed{};  ///< of a long send: where it is fetched from
  std::size_t num_bytes_asked = 0, num_bytes_moved = 0;  ///< of a long message; a receive asks
  int num_parts = 0;                                     ///< of a long receive: asked for and not there yet
  int num_awaited = 0;                                   ///< what must happen until it is done
};

/// First in, first out, without memory of its own.
class Line {
 public:
  bool empty() const { return first_ == nullptr; }
  Message& front() { return *first_; }

  void push_back(Message& message) {
    message.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &message;
    last_ = &message;
  }

  Message& pop_front() {
    Message& message = *std::exchange(first_, first_->next);
    return message;
  }

  /// A send that came back, before those whose turn is later.
  void insert_by_turn(Message& message) {
    Message** place = &first_;
    while (*place != nullptr && (*place)->turn < message.turn) place = &(*place)->next;
    message.next = *place;
    *place = &message;
    if (message.next == nullptr) last_ = &message;
  }

 private:
  Message* first_ = nullptr;
  Message* last_ = nullptr;  ///< where it is not empty
};

/// What a rank tells others so that they reach it.
struct Address {
  ptl_process_t id{};
  ptl_pt_index_t messages = 0, memory = 0, words = 0;
};

/// One rank's way to another.
struct PeerChannel {
  Address to;
  Line waiting;                   ///< sends, by turn
  std::uint64_t next_turn = 0;    ///< of a send
  std::size_t num_under_way = 0;  ///< sends that have left and are not answered
  bool is_held = false;           ///< sends wait until the other rank says go
  bool has_said_quiet = false;    ///< while it is held
  bool is_quiet = false;          ///< the other rank holds its sends, until we say go
  bool has_left = false;          ///< the other rank has closed its way to this one
};

}  // namespace leadline::transport::portals4
