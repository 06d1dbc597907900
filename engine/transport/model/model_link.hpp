// SPDX-License-Identifier: Apache-2.0
// A link through a simulated fabric: messages carry the virtual moment of their arrival, and clocks follow it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "transport/model/fabric.hpp"
#include "transport/socket_link.hpp"

namespace leadline::transport::model {

/// Whether the bytes of the messages travel, or only their times.
enum class Payload { none, whole };

/// One rank in the fabric, for all its links: what it has sent so far decides its jitter, and when it falls silent.
struct Station {
  int rank = 0;
  std::optional<std::uint64_t> silent_after;
  std::uint64_t num_sent = 0;
  std::uint64_t clock_ns = 0;  ///< virtual: 0 where a measurement begins, so that none depends on those before it
};

/// A message departs at `at_ns`, or when the link is no longer busy: the moment of its arrival. Where the rank falls
/// silent, never.
inline std::uint64_t depart(const Fabric& fabric, Station& own, int partner, std::size_t size, std::uint64_t at_ns,
                            std::uint64_t& busy_until_ns) {
  while (own.silent_after && own.num_sent >= *own.silent_after) ::pause();
  const Travel time = travel(fabric, own.rank, partner, size, own.num_sent++);
  busy_until_ns = std::max(at_ns, busy_until_ns) + time.sending_ns;
  return busy_until_ns + time.latency_ns;
}

/// See kernel/link.hpp. Sending takes no time of the rank, but keeps the link busy; waiting takes what it takes.
class ModelLink {
 public:
  /// `ends` are not used on a link to oneself.
  ModelLink(const Fabric& fabric, Station& own, int partner, LinkEnds ends, Posted& posted, Payload payload)
      : fabric_(fabric), own_(own), partner_(partner), posted_(posted), payload_(payload), wire_(ends, partner) {}

  void send(const std::byte* data, std::size_t size) { put(arrival_of(own_.clock_ns, size), data, size); }

  void receive(std::byte* data, std::size_t size) { own_.clock_ns = std::max(own_.clock_ns, take(data, size)); }

  void post_send(const std::byte* data, std::size_t size) {
    posted_.sends.add(data);
    posted_.size = size;
  }

  void post_receive(std::byte* data, std::size_t size) {
    posted_.receives.add(data);
    posted_.size = size;
  }

  /// One out, one in: so no more than one message waits on the wire, however large the window.
  void complete_posted() {
    auto& [sends, receives, size] = posted_;
    const std::uint64_t start_ns = own_.clock_ns;
    std::uint64_t last_ns = start_ns;
    while (!sends.is_empty() || !receives.is_empty()) {
      std::uint64_t arrival_ns = 0;
      if (!sends.is_empty()) arrival_ns = arrival_of(start_ns, size);
      if (partner_ == own_.rank) {
        loop_back();
      } else {
        if (!sends.is_empty()) put(arrival_ns, sends.first(), size);
        arrival_ns = receives.is_empty() ? 0 : take(receives.first(), size);
      }
      last_ns = std::max(last_ns, arrival_ns);
      if (!sends.is_empty()) sends.drop_first();
      if (!receives.is_empty()) receives.drop_first();
    }
    own_.clock_ns = std::max(last_ns, busy_until_ns_);
  }

  void send_receipt() { put(arrival_of(own_.clock_ns, 0), nullptr, 0); }
  void await_receipt() { receive(nullptr, 0); }

  std::uint64_t now_ns() const { return own_.clock_ns; }

 private:
  std::uint64_t arrival_of(std::uint64_t at_ns, std::size_t size) {
    return depart(fabric_, own_, partner_, size, at_ns, busy_until_ns_);
  }

  void put(std::uint64_t arrival_ns, const std::byte* data, std::size_t size) {
    wire_.send(reinterpret_cast<const std::byte*>(&arrival_ns), sizeof arrival_ns);
    if (payload_ == Payload::whole && size > 0) wire_.send(data, size);
  }

  std::uint64_t take(std::byte* data, std::size_t size) {
    std::uint64_t arrival_ns = 0;
    wire_.receive(reinterpret_cast<std::byte*>(&arrival_ns), sizeof arrival_ns);
    if (payload_ == Payload::whole && size > 0) wire_.receive(data, size);
    corrupt(data, size);
    return arrival_ns;
  }

  void loop_back() {
    const auto& [sends, receives, size] = posted_;
    if (payload_ == Payload::whole && size > 0) std::memcpy(receives.first(), sends.first(), size);
    corrupt(receives.first(), size);
  }

  void corrupt(std::byte* data, std::size_t size) {
    if (payload_ == Payload::none) return;
    const auto byte = corrupted_byte(fabric_, partner_, own_.rank, num_taken_++);
    if (byte && *byte < size) data[*byte] ^= std::byte{0x01};
  }

  const Fabric& fabric_;
  Station& own_;
  int partner_;
  Posted& posted_;
  Payload payload_;
  SocketStream<WaitMode::block> wire_;
  std::uint64_t busy_until_ns_ = 0;
  std::uint64_t num_taken_ = 0;
};

}  // namespace leadline::transport::model
