// SPDX-License-Identifier: Apache-2.0
// Messages over Portals 4, matched by the library: an entry of the priority list for each receive, buffers in the
// overflow list for what comes before it was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "model/provenance.hpp"
#include "transport/portals4/endpoint.hpp"
#include "transport/portals4/flow_control.hpp"
#include "transport/portals4/message.hpp"
#include "transport/portals4/receives.hpp"
#include "transport/portals4/sends.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::portals4 {

/// See transport/tagged/port.hpp.
class Portals4Port {
 public:
  using Peer = PeerChannel*;
  using Memory = Descriptor;
  using Request = Message;

  /// Throws Error(something_missing) in the library's words.
  explicit Portals4Port(const Choice& choice);
  Portals4Port(const Portals4Port&) = delete;
  Portals4Port& operator=(const Portals4Port&) = delete;
  ~Portals4Port() = default;

  Memory memory(const std::byte* data, std::size_t size) const;

  void post_send(Peer peer, tagged::Tag tag, const Memory& memory, const std::byte* data, std::size_t size,
                 Request& request) {
    prepare(peer, tag, memory, const_cast<std::byte*>(data), size, request);
    sends_.post(request);
  }

  void post_receive(Peer peer, tagged::Tag tag, const Memory& memory, std::byte* data, std::size_t size,
                    Request& request) {
    prepare(peer, tag, memory, data, size, request);
    receives_.post(request);
  }

  bool is_done(const Request& request) const { return request.num_awaited == 0; }

  bool progress() {
    const bool has_received = take(endpoint_.arrivals);
    const bool has_moved = take(endpoint_.own) || has_received;
    return start_waiting() || has_moved;
  }

  /// A send is done when its receiver's side has it.
  bool flush(Deadline) { return true; }

  /// Long messages travel in pieces.
  static std::uint64_t max_message_bytes() { return UINT64_MAX; }
  static constexpr bool keeps_endpoints = false;
  static constexpr bool survives_lost_partners = false;
  static constexpr std::size_t descriptors_per_endpoint = 0;

  std::string address() const;
  Peer open(std::string_view address);
  void close(Peer peer) noexcept;

  TransportInfo info() const;

 private:
  void prepare(Peer peer, tagged::Tag tag, const Memory& memory, std::byte* data, std::size_t size, Request& request) {
    request.channel = peer;
    request.bits = tagged::bits(tag);
    request.memory = size == 0 ? endpoint_.nothing.get() : memory.get();
    request.offset = size == 0 ? 0 : static_cast<ptl_size_t>(data - memory.start());
    request.data = data;
    request.size = size;
  }

  /// Some of a queue's events; whether there was one.
  bool take(const EventQueue& queue) {
    ptl_event_t event;
    int num = 0;
    while (num < 16 && queue.take(event)) {
      handle(event);
      ++num;
    }
    return num > 0;
  }

  void handle(const ptl_event_t& event);
  void handle_arrival(const ptl_event_t& event);
  void handle_answer(const ptl_event_t& event);
  bool start_waiting();
  void await_shutdown_answer(const PeerChannel& channel);

  Endpoint endpoint_;
  std::list<PeerChannel> channels_;
  Sends sends_;
  Receives receives_;
  FlowControl flow_control_;
  std::size_t num_shutdowns_ = 0;  ///< said and not answered
  bool has_patience_ = true;       ///< to wait for an answer to a shutdown message
};

}  // namespace leadline::transport::portals4
