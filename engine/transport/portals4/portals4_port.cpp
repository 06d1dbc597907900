// SPDX-License-Identifier: Apache-2.0
// Events, and the ways to other ranks.
#include "transport/portals4/portals4_port.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "core/error.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::portals4 {
namespace {

/// For a partner that has died, all of them together; a living one answers at once.
constexpr auto closing_patience = std::chrono::seconds(1);

}  // namespace

Portals4Port::Portals4Port(const Choice& choice)
    : endpoint_(choice), sends_(endpoint_), receives_(endpoint_), flow_control_(endpoint_, channels_) {}

Portals4Port::Memory Portals4Port::memory(const std::byte* data, std::size_t size) const {
  return size == 0 ? Memory() : Memory(endpoint_.interface, endpoint_.own, data, size);
}

void Portals4Port::handle(const ptl_event_t& event) {
  switch (event.type) {
    case PTL_EVENT_PUT:
      return event.pt_index == endpoint_.words.index() ? flow_control_.receive_control(event) : handle_arrival(event);
    case PTL_EVENT_PUT_OVERFLOW:
    case PTL_EVENT_SEARCH:
      return handle_arrival(event);
    case PTL_EVENT_ACK:
      return handle_answer(event);
    case PTL_EVENT_GET:
      return sends_.fetched(event);
    case PTL_EVENT_REPLY:
      return receives_.replied(event);
    case PTL_EVENT_AUTO_UNLINK:
      return receives_.filled();
    case PTL_EVENT_AUTO_FREE:
      return receives_.freed(event);
    case PTL_EVENT_PT_DISABLED:
      if (flow_control_.is_shut()) return;
      flow_control_.shut();
      return receives_.drain();
    default:
      return;
  }
}

/// What a search for messages finds has no receive yet.
void Portals4Port::handle_arrival(const ptl_event_t& event) {
  event.user_ptr == nullptr ? receives_.found(event) : receives_.arrived(event);
}

void Portals4Port::handle_answer(const ptl_event_t& event) {
  if (event.user_ptr == nullptr) {
    --num_shutdowns_;
    return;
  }
  PeerChannel& channel = sends_.answered(event);
  if (channel.is_held) flow_control_.settle(channel);
}

bool Portals4Port::start_waiting() {
  bool has_started = receives_.drive();
  if (sends_.has_waiting()) {
    for (PeerChannel& channel : channels_) has_started = sends_.drive(channel) || has_started;
  }
  if (!flow_control_.is_shut() || !receives_.has_drained() || !receives_.has_buffer() || !flow_control_.may_open())
    return has_started;
  flow_control_.open();
  return true;
}

std::string Portals4Port::address() const {
  const Address own = endpoint_.address();
  std::string bytes(sizeof own, '\0');
  std::memcpy(bytes.data(), &own, sizeof own);
  return bytes;
}

Portals4Port::Peer Portals4Port::open(std::string_view address) {
  PeerChannel& channel = channels_.emplace_back();
  if (address.size() != sizeof channel.to) {
    throw Error(ExitStatus::run_failed, "another rank's address is not one of Portals 4");
  }
  std::memcpy(&channel.to, address.data(), sizeof channel.to);
  flow_control_.add_channel(channel);
  return &channel;
}

void Portals4Port::close(Peer peer) noexcept {
  try {
    await_shutdown_answer(*peer);
  } catch (const Error&) {
    // Nothing is under way any more that could be lost.
  }
  channels_.remove_if([&](const PeerChannel& channel) { return &channel == peer; });
}

/// The library answers for a rank even while that does nothing, but not when it has ended: so the first of two that
/// close stays until the other has had all its answers. The answer to a shutdown message comes after those.
void Portals4Port::await_shutdown_answer(const PeerChannel& channel) {
  if (channel.has_left || !has_patience_ || is_same(channel.to.id, endpoint_.interface.id())) return;
  flow_control_.send_shutdown(channel);
  ++num_shutdowns_;
  has_patience_ = tagged::drive_until(*this, Deadline::after(closing_patience),
                                      [&] { return channel.has_left || num_shutdowns_ == 0; });
}

TransportInfo Portals4Port::info() const {
  TransportInfo info;
  info.name = "portals4";
  info.library = "Portals 4";
  const ptl_process_t id = endpoint_.interface.id();
  info.device = fmt::format("nid {:#x}, pid {}", id.phys.nid, id.phys.pid);
  return info;
}

}  // namespace leadline::transport::portals4
