// SPDX-License-Identifier: Apache-2.0
// A rank's queues and entries of the portal table, and how much of the interface it takes for what.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "transport/portals4/library.hpp"
#include "transport/portals4/message.hpp"

namespace leadline::transport::portals4 {

/// The user's part in it; empty = the defaults.
struct Choice {
  std::optional<ptl_interface_t> interface;
  std::string device;
  std::size_t eager_limit_bytes = 8192;  ///< longer messages are fetched by their receiver. Guessed
};

/// Of one long message; each is an event at the rank that it is fetched from.
inline constexpr int max_parts_under_way = 8;

/// All within the limits of the interface, so that no list and no queue of events overflows.
struct Capacity {
  Capacity(const ptl_ni_limits_t& limits, const Choice& choice);

  std::size_t max_message_bytes;  ///< that travel at once
  std::size_t eager_limit_bytes;
  std::size_t num_buffers;  ///< for unexpected messages
  std::size_t max_posted, max_exposed;
  std::size_t max_operations;  ///< of this rank's own that are not answered
};

struct Endpoint {
  explicit Endpoint(const Choice& choice);

  Interface interface;
  Capacity capacity;
  /// Of messages and buffers; and of what this rank has set going itself, and of words. The library shuts `messages`
  /// when the former is full, so nothing else may fill it.
  EventQueue arrivals, own;
  TableEntry messages, memory, words;
  Descriptor nothing;  ///< memory of messages without contents
  std::size_t num_operations = 0;

  bool has_room() const { return num_operations < capacity.max_operations; }
  Address address() const { return {interface.id(), messages.index(), memory.index(), words.index()}; }
};

}  // namespace leadline::transport::portals4
