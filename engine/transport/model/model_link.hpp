// SPDX-License-Identifier: Apache-2.0
// A link through a make-believe fabric: messages carry the virtual moment of their arrival, and clocks follow it.
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

/// One rank's part in the fabric: what it has sent so far decides its jitter, and when it falls silent.
struct Sender {
  std::uint64_t num_sent = 0;
  std::optional<std::uint64_t> silent_after;
};

/// See kernel/link.hpp. Virtual time starts at 0 at both ends of every measurement, so that a measurement does not
/// depend on those before it. Sending takes no time of the rank, but keeps the link busy; waiting takes what it takes.
class ModelLink {
 public:
  using Wire = SocketLink<WaitMode::block>;

  /// `ends` are not used on a link to oneself.
  ModelLink(const Fabric& fabric, Sender& sender, int own_rank, int partner, LinkEnds ends, Payload payload)
      : fabric_(fabric),
        sender_(sender),
        own_rank_(own_rank),
        partner_(partner),
        payload_(payload),
        wire_(ends, partner) {}

  void send(const std::byte* data, std::size_t size) { put(arrival_of(clock_ns_, size), data, size); }

  void receive(std::byte* data, std::size_t size) { clock_ns_ = std::max(clock_ns_, take(data, size)); }

  void post_send(const std::byte* data, std::size_t size) {
    out_ = data;
    size_ = size;
    ++num_out_;
  }

  void post_receive(std::byte* data, std::size_t size) {
    in_ = data;
    size_ = size;
    ++num_in_;
  }

  /// One out, one in: so no more than one message waits on the wire, however large the window.
  void complete_posted() {
    const std::uint64_t start_ns = clock_ns_;
    std::uint64_t last_ns = start_ns;
    for (; num_out_ > 0 || num_in_ > 0; num_out_ -= num_out_ > 0 ? 1 : 0, num_in_ -= num_in_ > 0 ? 1 : 0) {
      std::uint64_t arrival_ns = 0;
      if (num_out_ > 0) arrival_ns = arrival_of(start_ns, size_);
      if (partner_ == own_rank_) {
        loop_back();
      } else {
        if (num_out_ > 0) put(arrival_ns, out_, size_);
        arrival_ns = num_in_ > 0 ? take(in_, size_) : 0;
      }
      last_ns = std::max(last_ns, arrival_ns);
    }
    clock_ns_ = std::max(last_ns, busy_until_ns_);
  }

  void send_receipt() { put(arrival_of(clock_ns_, 0), nullptr, 0); }
  void await_receipt() { receive(nullptr, 0); }

  std::uint64_t now_ns() const { return clock_ns_; }

 private:
  std::uint64_t arrival_of(std::uint64_t at_ns, std::size_t size) {
    while (sender_.silent_after && sender_.num_sent >= *sender_.silent_after) ::pause();
    const Travel way = travel(fabric_, own_rank_, partner_, size, sender_.num_sent++);
    busy_until_ns_ = std::max(at_ns, busy_until_ns_) + way.sending_ns;
    return busy_until_ns_ + way.latency_ns;
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
    if (payload_ == Payload::whole && size_ > 0) std::memcpy(in_, out_, size_);
    corrupt(in_, size_);
  }

  void corrupt(std::byte* data, std::size_t size) {
    if (payload_ == Payload::none) return;
    const auto byte = corrupted_byte(fabric_, partner_, own_rank_, num_taken_++);
    if (byte && *byte < size) data[*byte] ^= std::byte{0x01};
  }

  const Fabric& fabric_;
  Sender& sender_;
  int own_rank_, partner_;
  Payload payload_;
  Wire wire_;
  std::uint64_t clock_ns_ = 0, busy_until_ns_ = 0;
  std::uint64_t num_taken_ = 0;
  const std::byte* out_ = nullptr;
  std::byte* in_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t num_out_ = 0, num_in_ = 0;
};

}  // namespace leadline::transport::model
