// SPDX-License-Identifier: Apache-2.0
// How a rank that had no room for messages takes messages again, without any order being lost.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "transport/portals4/endpoint.hpp"
#include "transport/portals4/message.hpp"

namespace leadline::transport::portals4 {

/// The library shuts a rank's entry for messages when there is no room, and refuses what comes. If it were opened while
/// messages are under way, one of them might get in before an earlier one that was refused and has to be sent again.
/// So the rank says "stop" to all; each holds its sends, and says "quiet" when none of them is under way; when all are
/// quiet the rank opens the entry and says "go", and everybody sends first what was refused. Whoever is refused holds
/// and becomes quiet by itself. Control messages go through an entry of their own, which nothing shuts.
class FlowControl {
 public:
  /// `ways`: those that are open.
  FlowControl(Endpoint& endpoint, std::list<PeerChannel>& channels);

  bool is_shut() const { return is_shut_; }

  /// The library has shut the entry.
  void shut();

  /// Whether it is shut, and all partners are quiet.
  bool may_open() const;
  void open();

  /// To be called for a way before anything is sent to it.
  void add_channel(PeerChannel& channel);

  /// To be called whenever a way is held: says that it is quiet when that is so.
  void settle(PeerChannel& channel);

  /// A control message has come.
  void receive_control(const ptl_event_t& event);

  /// Says that nothing more will come this way, and asks for an answer, which PTL_EVENT_ACK without user_ptr is.
  void send_shutdown(const PeerChannel& channel);

 private:
  enum class ControlMessage : std::uint8_t { stop, quiet, go, shutdown };

  /// Where control messages for a rank go to.
  struct ControlEndpoint {
    ptl_process_t id{};
    ptl_pt_index_t words = 0;
  };

  static ControlEndpoint control_endpoint_of(const PeerChannel& channel) { return {channel.to.id, channel.to.words}; }
  void send_control(ControlMessage word, const ControlEndpoint& to, ptl_ack_req_t ack);
  void send_control(ControlMessage word, const ControlEndpoint& to) { send_control(word, to, PTL_NO_ACK_REQ); }
  PeerChannel* channel_to(ptl_process_t id);
  void on_stop(PeerChannel* channel, const ControlEndpoint& from);
  void on_quiet(PeerChannel* channel, const ControlEndpoint& from);
  void on_go(PeerChannel* channel);

  Endpoint& endpoint_;
  std::list<PeerChannel>& channels_;
  std::vector<ControlEndpoint> quiet_unknown_;  ///< that are quiet; there is no way to them yet, or no longer
  bool is_shut_ = false;
};

}  // namespace leadline::transport::portals4
