// SPDX-License-Identifier: Apache-2.0
// Prepares the work requests of a measurement, and posts its first receives.
#include "transport/verbs/flow.hpp"

#include <algorithm>
#include <utility>

namespace leadline::transport::verbs {

Flow::Flow(Adapter& adapter, Peer& peer, FlowPlan plan)
    : adapter_(adapter),
      peer_(peer),
      num_in_(plan.num_in),
      num_out_(plan.num_out),
      num_ahead_(std::clamp(plan.num_ahead, 1u, peer.pair.num_receives)),
      most_silent_(std::max(peer.pair.num_sends / 2, 1u)),
      is_copied_(plan.message_size_bytes <= peer.pair.max_inline_bytes),
      is_written_(adapter.takes_writes()) {
  const auto size = static_cast<std::uint32_t>(plan.message_size_bytes);
  peer_.num_asked = peer_.num_arrived = 0;
  peer_.seemed_gone = false;
  entry_ = {0, size, plan.send_key};
  into_ = {0, size, plan.in.key};
  places_ = AddressSequence(std::move(plan.in));
  message_.opcode = empty_.opcode = IBV_WR_SEND;
  message_.sg_list = &entry_;
  message_.num_sge = size > 0 ? 1 : 0;
  receive_.wr_id = Adapter::mark(peer_, 0);
  receive_.sg_list = &into_;
  while (num_posted_ < std::min<std::uint64_t>(num_in_, num_ahead_)) post_receive();
}

void Flow::write_to(MessageAddresses places) {
  if (entry_.length == 0 || places.indexes.empty()) return;
  message_.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  message_.wr.rdma.rkey = places.key;
  written_ = AddressSequence(std::move(places));
  is_writing_ = true;
}

void Flow::make_room() {
  adapter_.wait_until([&] { return adapter_.has_room(peer_); });
}

}  // namespace leadline::transport::verbs
