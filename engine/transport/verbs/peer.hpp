// SPDX-License-Identifier: Apache-2.0
// One rank's end of a reliable connection: its queue pair, and what is under way over it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/verbs/device.hpp"
#include "transport/verbs/library.hpp"

namespace leadline::transport::verbs {

/// What belongs to each connection, where the user says something else.
struct Service {
  std::uint8_t level = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t ack_timeout = 16;  ///< 4.096 us * 2^N until a packet is sent again; 16 are 0.27 s
  std::uint8_t num_retries = 6;   ///< until the connection has failed; 7 are for ever with devices in software
};

/// What one end must know of the other. Carried as it lies in memory: both are the same program.
struct Address {
  std::uint32_t queue_pair = 0, first_packet = 0;
  std::uint16_t lid = 0;
  std::uint8_t is_ethernet = 0, is_routed = 0, mtu = 0;
  std::uint8_t gid[16]{};

  std::string bytes() const;
  static Address from(std::string_view bytes);
};

/// Why two ends cannot be connected; empty where they can. Both ends find the same.
std::string why_unreachable(const Address& one, const Address& other);

/// A queue pair, made and ready to take receives.
struct QueuePair {
  QueuePair() = default;

  /// Throws Error(something_missing) in the library's words.
  QueuePair(ibv_pd* domain, ibv_cq* queue, const Port& port, bool takes_writes);

  Address address(const Port& port) const;

  /// Partners: what its partner said is taken in, and messages may go. Returns the error number, or 0.
  int connect(const Port& port, const Address& partner, Service service);

  Owned<ibv_qp> handle;
  std::uint32_t num_sends = 0, num_receives = 0;  ///< that may be posted
  std::uint32_t max_inline_bytes = 0;
};

/// Counters are those of one measurement, where nothing else is said.
struct Peer {
  std::int32_t rank = 0;
  std::uint32_t index = 0;  ///< where the adapter keeps it
  int socket = -1;          ///< to the same partner; none to oneself
  QueuePair pair;
  QueuePair loop_end;  ///< what receives on the loop to oneself

  std::uint64_t num_asked = 0;      ///< receives that are or will be waited for
  std::uint64_t num_arrived = 0;    ///< receives that are done
  std::uint32_t num_unreaped = 0;   ///< sends in the queue, at any time
  std::uint32_t num_signalled = 0;  ///< those of them whose end will be told
  bool seemed_gone = false;
  std::string failure;  ///< why nothing passes any more, as the adapter says it; empty while it does

  ibv_qp* sender() const { return pair.handle.get(); }
  ibv_qp* receiver() const { return loop_end.handle ? loop_end.handle.get() : pair.handle.get(); }
  bool owes_something() const { return num_asked > num_arrived || num_signalled > 0; }
};

}  // namespace leadline::transport::verbs
