// SPDX-License-Identifier: Apache-2.0
// What an adapter says of connections that fail, over a fake library: each is lost alone, and once.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>

#include "cluster/rendezvous.hpp"
#include "core/descriptor.hpp"
#include "transport/verbs/adapter.hpp"
#include "transport/verbs/flow.hpp"

namespace leadline::transport::verbs {
namespace {

/// What stands in the completion queue.
std::deque<ibv_wc>& completions() {
  static std::deque<ibv_wc> all;
  return all;
}

int poll_completions(ibv_cq* /*queue*/, int num, ibv_wc* done) {
  const auto taken = std::min<std::size_t>(static_cast<std::size_t>(num), completions().size());
  std::copy_n(completions().begin(), taken, done);
  completions().erase(completions().begin(), completions().begin() + static_cast<std::ptrdiff_t>(taken));
  return static_cast<int>(taken);
}

int post_send(ibv_qp* /*pair*/, ibv_send_wr* /*request*/, ibv_send_wr** /*bad*/) { return 0; }
int post_receive(ibv_qp* /*pair*/, ibv_recv_wr* /*request*/, ibv_recv_wr** /*bad*/) { return 0; }

struct FakeLibrary {
  FakeLibrary() {
    context.device = &device;
    context.ops.poll_cq = &poll_completions;
    context.ops.post_send = &post_send;
    context.ops.post_recv = &post_receive;
    domain.context = queue.context = &context;
  }

  ibv_device device{};
  ibv_context context{};
  ibv_pd domain{};
  ibv_cq queue{};
};

FakeLibrary& library() {
  static FakeLibrary one;
  return one;
}

}  // namespace
}  // namespace leadline::transport::verbs

using leadline::transport::verbs::library;

// In place of those of libibverbs.
extern "C" {
int ibv_close_device(ibv_context* /*context*/) { return 0; }
ibv_pd* ibv_alloc_pd(ibv_context* /*context*/) { return &library().domain; }
int ibv_dealloc_pd(ibv_pd* /*domain*/) { return 0; }
int ibv_query_device(ibv_context* /*context*/, ibv_device_attr* limits) {
  *limits = {};
  limits->max_cqe = 1024;
  limits->max_qp_wr = 64;
  return 0;
}
ibv_cq* ibv_create_cq(ibv_context* /*context*/, int /*entries*/, void* /*own*/, ibv_comp_channel* /*channel*/, int) {
  return &library().queue;
}
int ibv_destroy_cq(ibv_cq* /*queue*/) { return 0; }
ibv_qp* ibv_create_qp(ibv_pd* /*domain*/, ibv_qp_init_attr* /*wanted*/) {
  auto pair = std::make_unique<ibv_qp>();
  pair->context = &library().context;
  return pair.release();
}
int ibv_destroy_qp(ibv_qp* pair) {
  delete pair;
  return 0;
}
int ibv_modify_qp(ibv_qp* /*pair*/, ibv_qp_attr* /*state*/, int /*mask*/) { return 0; }
}

namespace leadline::transport::verbs {
namespace {

Port fake_port() {
  Port port;
  port.context.reset(&library().context);
  return port;
}

/// Of a send if it stands for one or more, else of a receive. Only wr_id and status are valid where it failed.
ibv_wc done(const Peer& peer, std::uint32_t num_sends, ibv_wc_status status = IBV_WC_SUCCESS) {
  ibv_wc one{};
  one.wr_id = Adapter::mark(peer, num_sends);
  one.status = status;
  if (status == IBV_WC_SUCCESS) one.opcode = num_sends > 0 ? IBV_WC_SEND : IBV_WC_RECV;
  return one;
}

class LostPeers : public testing::Test {
 protected:
  LostPeers() { completions().clear(); }

  std::unique_ptr<Peer> peer(std::int32_t rank) {
    auto made = adapter.make_peer(rank);
    made->num_asked = 1;
    return made;
  }

  /// Whom a wait finds lost, and why.
  std::pair<int, std::string> lost_in_wait() {
    try {
      adapter.wait_until([] { return false; });
    } catch (const cluster::ConnectionLost& lost) {
      return {lost.partner(), lost.why()};
    }
    return {-1, ""};
  }

  Adapter adapter{fake_port(), WaitMode::yield, Adapter::Writes::no};
};

TEST_F(LostPeers, TheirsAloneFailsAndTheFirstFailureIsTheReason) {
  const auto lost = peer(1), well = peer(2);
  completions() = {done(*lost, 1, IBV_WC_RETRY_EXC_ERR), done(*well, 0), done(*lost, 0, IBV_WC_WR_FLUSH_ERR)};
  const auto [partner, why] = lost_in_wait();
  EXPECT_EQ(partner, 1);
  EXPECT_THAT(why, testing::StartsWith("transport retry counter exceeded on "));
  EXPECT_EQ(well->num_arrived, 1u);
  EXPECT_FALSE(lost->owes_something());
}

TEST_F(LostPeers, AreToldOneAfterTheOther) {
  const auto one = peer(1), other = peer(2);
  completions() = {done(*other, 0, IBV_WC_WR_FLUSH_ERR), done(*one, 0, IBV_WC_WR_FLUSH_ERR)};
  EXPECT_EQ(lost_in_wait().first, 1);
  EXPECT_EQ(lost_in_wait().first, 2);
}

TEST_F(LostPeers, OfWhomNothingIsAwaitedAreNoError) {
  const auto idle = peer(1);
  idle->num_asked = 0;
  completions() = {done(*idle, 0, IBV_WC_WR_FLUSH_ERR)};
  EXPECT_TRUE(adapter.poll());
  idle->num_asked = 1;
  EXPECT_EQ(lost_in_wait().first, 1) << "as soon as something is awaited";
}

TEST_F(LostPeers, WhatComesLateCountsForNobody) {
  auto lost = peer(1);
  Flow flow(adapter, *lost, {});
  flow.post_empty();
  flow.post_empty();
  EXPECT_FALSE(adapter.has_sent_all());
  completions() = {done(*lost, 1), done(*lost, 0), done(*lost, 1, IBV_WC_WR_FLUSH_ERR)};
  adapter.give_up(*lost);
  EXPECT_TRUE(adapter.has_sent_all());
  adapter.forget(*lost);
  const auto next = peer(3);
  EXPECT_EQ(next->index, lost->index);
  EXPECT_FALSE(adapter.poll());
  EXPECT_EQ(next->num_arrived, 0u);
  EXPECT_EQ(next->failure, "");
}

TEST_F(LostPeers, AreFoundByTheEndOfTheirSocketAndHearOfIt) {
  std::array<int, 2> fds{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  const Descriptor here(fds[0]), there(fds[1]);
  const auto lost = peer(1);
  lost->socket = here.fd();
  ::shutdown(there.fd(), SHUT_WR);
  EXPECT_EQ(lost_in_wait(), std::pair(1, std::string("the other end closed it")));
  char byte = 0;
  EXPECT_EQ(::recv(there.fd(), &byte, 1, MSG_DONTWAIT), 0);
}

}  // namespace
}  // namespace leadline::transport::verbs
