// SPDX-License-Identifier: Apache-2.0
// Messages that leave: short ones at once, long ones as a header, after which their receiver fetches them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/portals4/endpoint.hpp"
#include "transport/portals4/message.hpp"

namespace leadline::transport::portals4 {

/// A send is done when its message has arrived at the other rank, asked for or not; of a long one, when it has been
/// fetched. So a message that the other rank refused for want of room is still there to be sent again.
class Sends {
 public:
  explicit Sends(Endpoint& endpoint) : endpoint_(endpoint) {}

  void post(Message& message) {
    PeerChannel& channel = *message.channel;
    message.turn = channel.next_turn++;
    message.num_bytes_moved = 0;
    message.key = 0;
    message.num_awaited = 1;
    if (channel.is_held || !channel.waiting.empty() || !has_room()) [[unlikely]] {
      channel.waiting.push_back(message);
      ++num_waiting_;
      return;
    }
    start(message);
  }

  bool has_waiting() const { return num_waiting_ > 0; }

  /// Starts of those that wait on this way what may start now; whether there was any.
  bool drive(PeerChannel& channel);

  /// Of a send's answer. A refused one waits at its place, and its way is held.
  PeerChannel& answered(const ptl_event_t& event);

  /// Of a part of a long message that its receiver has fetched.
  void fetched(const ptl_event_t& event);

 private:
  bool has_room() const { return endpoint_.has_room() && num_exposed_ < endpoint_.capacity.max_exposed; }
  bool is_long(const Message& message) const { return message.size > endpoint_.capacity.eager_limit_bytes; }
  bool goes_at_once(const Message& message) const { return message.size <= endpoint_.capacity.max_message_bytes; }

  void start(Message& message) {
    if (is_long(message) && message.key == 0) expose(message);
    const Address& to = message.channel->to;
    check("sending", functions->PtlPut(message.memory, message.offset, message.key == 0 ? message.size : 0, PTL_ACK_REQ,
                                       to.id, to.messages, message.bits, 0, &message, message.key));
    ++message.channel->num_under_way;
    ++endpoint_.num_operations;
  }

  void expose(Message& message);

  Endpoint& endpoint_;
  std::size_t num_exposed_ = 0, num_waiting_ = 0;
  std::uint64_t next_key_ = 1;
};

}  // namespace leadline::transport::portals4
