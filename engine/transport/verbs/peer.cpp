// SPDX-License-Identifier: Apache-2.0
// Queue pairs from their making to the state in which messages go.
#include "transport/verbs/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace leadline::transport::verbs {
namespace {

// Room for two of the usual windows to receive, and for one to send with as much again to be reaped.
constexpr std::uint32_t wanted_sends = 128, wanted_receives = 256;

/// Larger ones make each entry of the send queue longer; 220 fills four units of 64 bytes on ConnectX.
constexpr std::uint32_t wanted_inline_bytes[] = {220, 96, 32, 0};

// As the architecture encodes them: 10 us until a message is offered again for which no receive was posted, for ever.
constexpr std::uint8_t retries_for_ever = 7, receiver_not_ready_timer = 1;

Owned<ibv_qp> made(ibv_pd* domain, ibv_qp_init_attr& wanted) {
  for (const std::uint32_t bytes : wanted_inline_bytes) {
    wanted.cap.max_inline_data = bytes;
    if (Owned<ibv_qp> pair(functions->create_qp(domain, &wanted)); pair) return pair;
    if (errno == ENOMEM) break;
  }
  throw_cannot("make a queue pair", errno);
}

}  // namespace

std::string Address::bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }

Address Address::from(std::string_view bytes) {
  Address address;
  if (bytes.size() != sizeof address) throw Error(ExitStatus::run_failed, "a partner's address is of another form");
  std::memcpy(&address, bytes.data(), sizeof address);
  return address;
}

std::string why_unreachable(const Address& one, const Address& other) {
  if (one.is_ethernet != other.is_ethernet) return "one of the two ports is InfiniBand, the other one Ethernet";
  const bool by_lid = one.is_routed == 0 && other.is_routed == 0;
  if (by_lid && (one.lid == 0 || other.lid == 0))
    return "one of the two ports has no LID: no subnet manager gave it one";
  return "";
}

QueuePair::QueuePair(ibv_pd* domain, ibv_cq* queue, const Port& port, bool takes_writes) {
  ibv_device_attr limits{};
  functions->query_device(port.context.get(), &limits);
  const auto most = static_cast<std::uint32_t>(limits.max_qp_wr);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = queue;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = std::min(wanted_sends, most);
  wanted.cap.max_recv_wr = std::min(wanted_receives, most);
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  handle = made(domain, wanted);
  num_sends = std::min(wanted_sends, wanted.cap.max_send_wr);
  num_receives = std::min(wanted_receives, wanted.cap.max_recv_wr);
  max_inline_bytes = wanted.cap.max_inline_data;

  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = port.number;
  state.qp_access_flags = takes_writes ? IBV_ACCESS_REMOTE_WRITE : 0;
  const int problem =
      functions->modify_qp(handle.get(), &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (problem != 0) throw_cannot("bring a queue pair up", problem);
}

Address QueuePair::address(const Port& port) const {
  Address address;
  address.queue_pair = handle->qp_num;
  address.first_packet = handle->qp_num * 7919 & 0xffffff;  // any 24 bits; not those of the connection before
  address.lid = port.attributes.lid;
  address.is_ethernet = port.is_ethernet() ? 1 : 0;
  address.is_routed = port.is_routed ? 1 : 0;
  address.mtu = static_cast<std::uint8_t>(port.mtu);
  std::memcpy(address.gid, port.gid.raw, sizeof address.gid);
  return address;
}

int QueuePair::connect(const Port& port, const Address& partner, Service service) {
  ibv_qp_attr ready{};
  ready.qp_state = IBV_QPS_RTR;
  ready.path_mtu = static_cast<ibv_mtu>(std::min<int>(port.mtu, partner.mtu));
  ready.dest_qp_num = partner.queue_pair;
  ready.rq_psn = partner.first_packet;
  ready.min_rnr_timer = receiver_not_ready_timer;
  ready.ah_attr.port_num = port.number;
  ready.ah_attr.dlid = partner.lid;
  ready.ah_attr.sl = service.level;
  if (port.is_routed || partner.is_routed != 0) {
    ready.ah_attr.is_global = 1;
    std::memcpy(ready.ah_attr.grh.dgid.raw, partner.gid, sizeof partner.gid);
    ready.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(port.gid_index);
    ready.ah_attr.grh.hop_limit = 64;
    ready.ah_attr.grh.traffic_class = service.traffic_class;
  }
  constexpr int to_receive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  if (const int problem = functions->modify_qp(handle.get(), &ready, to_receive); problem != 0) return problem;

  ibv_qp_attr sending{};
  sending.qp_state = IBV_QPS_RTS;
  sending.timeout = service.ack_timeout;
  sending.retry_cnt = service.num_retries;
  sending.rnr_retry = retries_for_ever;
  sending.sq_psn = address(port).first_packet;
  constexpr int to_send =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  return functions->modify_qp(handle.get(), &sending, to_send);
}

}  // namespace leadline::transport::verbs
