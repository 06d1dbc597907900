// SPDX-License-Identifier: Apache-2.0
// The control messages stop, quiet, go and shutdown.
#include "transport/portals4/flow_control.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace leadline::transport::portals4 {

FlowControl::FlowControl(Endpoint& endpoint, std::list<PeerChannel>& channels)
    : endpoint_(endpoint), channels_(channels) {
  ptl_me_t anybody = quiet_entry();
  anybody.options |= PTL_ME_OP_PUT;
  anybody.match_id.phys.nid = PTL_NID_ANY;
  anybody.match_id.phys.pid = PTL_PID_ANY;
  anybody.ignore_bits = ~ptl_match_bits_t{0};
  ptl_handle_me_t posted{};
  require("listen for words", functions->PtlMEAppend(endpoint.interface.get(), endpoint.words.index(), &anybody,
                                                     PTL_PRIORITY_LIST, nullptr, &posted));
}

void FlowControl::shut() {
  is_shut_ = true;
  for (const PeerChannel& channel : channels_) send_control(ControlMessage::stop, control_endpoint_of(channel));
}

bool FlowControl::may_open() const {
  return is_shut_ && std::all_of(channels_.begin(), channels_.end(),
                                 [](const PeerChannel& channel) { return channel.is_quiet || channel.has_left; });
}

void FlowControl::open() {
  check("taking messages again", functions->PtlPTEnable(endpoint_.interface.get(), endpoint_.messages.index()));
  is_shut_ = false;
  for (const ControlEndpoint& unknown : quiet_unknown_) send_control(ControlMessage::go, unknown);
  quiet_unknown_.clear();
  for (PeerChannel& channel : channels_) {
    if (!channel.is_quiet) continue;
    channel.is_quiet = false;
    send_control(ControlMessage::go, control_endpoint_of(channel));
  }
}

void FlowControl::add_channel(PeerChannel& channel) {
  const auto known = std::find_if(quiet_unknown_.begin(), quiet_unknown_.end(),
                                  [&](const ControlEndpoint& unknown) { return is_same(unknown.id, channel.to.id); });
  if (known != quiet_unknown_.end()) {
    channel.is_quiet = true;
    quiet_unknown_.erase(known);
  } else if (is_shut_) {
    send_control(ControlMessage::stop, control_endpoint_of(channel));
  }
}

void FlowControl::settle(PeerChannel& channel) {
  if (channel.num_under_way > 0 || channel.has_said_quiet) return;
  channel.has_said_quiet = true;
  send_control(ControlMessage::quiet, control_endpoint_of(channel));
}

void FlowControl::receive_control(const ptl_event_t& event) {
  if (event.ni_fail_type != PTL_NI_OK) {
    throw Error(ExitStatus::run_failed, "Portals 4 failed (a word of another rank)",
                words_of_failure(event.ni_fail_type));
  }
  const ControlEndpoint from{event.initiator, static_cast<ptl_pt_index_t>(event.hdr_data >> 8)};
  PeerChannel* const channel = channel_to(event.initiator);
  switch (static_cast<ControlMessage>(event.hdr_data & 0xff)) {
    case ControlMessage::stop:
      return on_stop(channel, from);
    case ControlMessage::quiet:
      return on_quiet(channel, from);
    case ControlMessage::go:
      return on_go(channel);
    case ControlMessage::shutdown:
      if (channel != nullptr) channel->has_left = true;
      return;
  }
}

/// Where there is no way yet, at most a greeting will be under way before both have one.
void FlowControl::on_stop(PeerChannel* channel, const ControlEndpoint& from) {
  if (channel == nullptr) return send_control(ControlMessage::quiet, from);
  channel->is_held = true;
  settle(*channel);
}

void FlowControl::on_quiet(PeerChannel* channel, const ControlEndpoint& from) {
  if (!is_shut_) return send_control(ControlMessage::go, from);
  if (channel != nullptr) {
    channel->is_quiet = true;
  } else {
    quiet_unknown_.push_back(from);
  }
}

void FlowControl::on_go(PeerChannel* channel) {
  if (channel != nullptr) channel->is_held = channel->has_said_quiet = false;
}

void FlowControl::send_shutdown(const PeerChannel& channel) {
  send_control(ControlMessage::shutdown, control_endpoint_of(channel), PTL_ACK_REQ);
}

void FlowControl::send_control(ControlMessage word, const ControlEndpoint& to, ptl_ack_req_t ack) {
  const ptl_hdr_data_t header = ptl_hdr_data_t{endpoint_.words.index()} << 8 | static_cast<std::uint8_t>(word);
  check("a word to another rank",
        functions->PtlPut(endpoint_.nothing.get(), 0, 0, ack, to.id, to.words, 0, 0, nullptr, header));
}

PeerChannel* FlowControl::channel_to(ptl_process_t id) {
  const auto found = std::find_if(channels_.begin(), channels_.end(),
                                  [&](const PeerChannel& channel) { return is_same(channel.to.id, id); });
  return found == channels_.end() ? nullptr : &*found;
}

}  // namespace leadline::transport::portals4
