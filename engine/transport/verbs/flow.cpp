// SPDX-License-Identifier: Apache-2.0
// Prepares the work requests of a measurement, and posts its first receives.
#include "transport/verbs/flow.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.hpp"

namespace leadline::transport::verbs {
namespace {

/// What goes before the indexes.
struct Head {
  std::uint64_t begin, stride_bytes;
  std::uint32_t num, step, key, num_indexes;
};

}  // namespace

std::string MessageAddresses::encoded(std::uint32_t remote_key) const {
  std::vector<std::uint32_t> written = indexes;
  std::erase(written, nowhere);
  const Head head{begin, stride_bytes, num, step, remote_key, static_cast<std::uint32_t>(written.size())};
  std::string bytes(sizeof head + written.size() * sizeof(std::uint32_t), '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  if (!written.empty()) std::memcpy(bytes.data() + sizeof head, written.data(), bytes.size() - sizeof head);
  return bytes;
}

MessageAddresses MessageAddresses::decoded(std::string_view encoded) {
  Head head{};
  if (encoded.size() < sizeof head) throw Error(ExitStatus::run_failed, "a partner has not said where to write");
  std::memcpy(&head, encoded.data(), sizeof head);
  MessageAddresses addresses{head.begin, head.stride_bytes, head.num, head.step, head.key, {}};
  addresses.indexes.resize(
      std::min<std::size_t>(head.num_indexes, (encoded.size() - sizeof head) / sizeof(std::uint32_t)));
  if (addresses.indexes.empty()) return addresses;
  std::memcpy(addresses.indexes.data(), encoded.data() + sizeof head, addresses.indexes.size() * sizeof(std::uint32_t));
  return addresses;
}

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

void Flow::await_room() {
  adapter_.wait_until([&] { return adapter_.has_room(peer_); });
}

}  // namespace leadline::transport::verbs
