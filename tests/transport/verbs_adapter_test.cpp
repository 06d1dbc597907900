// SPDX-License-Identifier: Apache-2.0
// What an adapter says of connections that fail, over a fake library: each is lost alone, and once; and what becomes of
// the messages of a funnel.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cluster/rendezvous.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "support/thread_cluster.hpp"
#include "transport/verbs/adapter.hpp"
#include "transport/verbs/flow.hpp"
#include "transport/verbs/peers.hpp"
#include "transport/verbs/verbs_messages.hpp"

namespace leadline::transport::verbs {
namespace {

/// What stands in the completion queue of this thread's rank.
std::deque<ibv_wc>& completions() {
  static thread_local std::deque<ibv_wc> all;
  return all;
}

/// Whether what this thread posts is done at once, as where partners greet each other.
bool& completes_at_once() {
  static thread_local bool does_so = false;
  return does_so;
}

void complete(std::uint64_t id, ibv_wc_opcode opcode) {
  ibv_wc one{};
  one.wr_id = id;
  one.status = IBV_WC_SUCCESS;
  one.opcode = opcode;
  if (completes_at_once()) completions().push_back(one);
}

int poll_completions(ibv_cq* /*queue*/, int num, ibv_wc* done) {
  const auto taken = std::min<std::size_t>(static_cast<std::size_t>(num), completions().size());
  std::copy_n(completions().begin(), taken, done);
  completions().erase(completions().begin(), completions().begin() + static_cast<std::ptrdiff_t>(taken));
  return static_cast<int>(taken);
}

int post_send(ibv_qp* /*pair*/, ibv_send_wr* request, ibv_send_wr** /*bad*/) {
  complete(request->wr_id, IBV_WC_SEND);
  return 0;
}

int post_receive(ibv_qp* /*pair*/, ibv_recv_wr* request, ibv_recv_wr** /*bad*/) {
  complete(request->wr_id, IBV_WC_RECV);
  return 0;
}

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
  ibv_mr region{};
};

FakeLibrary& library() {
  static FakeLibrary one;
  return one;
}

ibv_mr* fake_reg_mr(ibv_pd* /*domain*/, void* /*data*/, size_t /*size*/, int /*access*/) { return &library().region; }
int fake_dereg_mr(ibv_mr* /*region*/) { return 0; }
int fake_close_device(ibv_context* /*context*/) { return 0; }
ibv_pd* fake_alloc_pd(ibv_context* /*context*/) { return &library().domain; }
int fake_dealloc_pd(ibv_pd* /*domain*/) { return 0; }
int fake_query_device(ibv_context* /*context*/, ibv_device_attr* limits) {
  *limits = {};
  limits->max_cqe = 1024;
  limits->max_qp_wr = 64;
  return 0;
}
ibv_cq* fake_create_cq(ibv_context* /*context*/, int /*entries*/, void* /*own*/, ibv_comp_channel* /*channel*/, int) {
  return &library().queue;
}
int fake_destroy_cq(ibv_cq* /*queue*/) { return 0; }
ibv_qp* fake_create_qp(ibv_pd* /*domain*/, ibv_qp_init_attr* /*wanted*/) {
  auto pair = std::make_unique<ibv_qp>();
  pair->context = &library().context;
  return pair.release();
}
int fake_destroy_qp(ibv_qp* pair) {
  delete pair;
  return 0;
}
const char* fake_get_device_name(ibv_device* device) { return device->name; }
const char* fake_wc_status_str(ibv_wc_status status) {
  return status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded" : "another failure";
}
int fake_modify_qp(ibv_qp* /*pair*/, ibv_qp_attr* /*state*/, int /*mask*/) { return 0; }

/// In place of the library's own; what is not here is not called.
const Functions fakes{.alloc_pd = fake_alloc_pd,
                      .close_device = fake_close_device,
                      .create_cq = fake_create_cq,
                      .create_qp = fake_create_qp,
                      .dealloc_pd = fake_dealloc_pd,
                      .dereg_mr = fake_dereg_mr,
                      .destroy_cq = fake_destroy_cq,
                      .destroy_qp = fake_destroy_qp,
                      .get_device_name = fake_get_device_name,
                      .modify_qp = fake_modify_qp,
                      .query_device = fake_query_device,
                      .reg_mr = fake_reg_mr,
                      .wc_status_str = fake_wc_status_str};

Port fake_port() {
  functions = &fakes;
  Port port;
  port.context.reset(&library().context);
  port.attributes.link_layer = IBV_LINK_LAYER_ETHERNET;
  port.attributes.max_msg_sz = 1 << 20;
  port.is_routed = true;
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

/// Does it on rank 0 of three, which has links to both others.
void with_links_to_two(const std::function<void(Adapter&, Peers&)>& work) {
  test::run_on_threads({0, 0, 0}, [&](test::ThreadCluster& cluster) {
    const Context context{.rank = cluster.rank(),
                          .size = cluster.size(),
                          .host_of = cluster.host_of(),
                          .rendezvous = cluster,
                          .wait = WaitMode::yield,
                          .settings = {},
                          .interface = {},
                          .progress_counter = cluster.progress_counter()};
    Adapter adapter(fake_port(), WaitMode::yield, Adapter::Writes::no);
    Peers peers(adapter, context, {});
    peers.give_up_silent_links(std::chrono::minutes(1));
    completes_at_once() = true;
    for (const int partner : {1, 2}) {
      if (cluster.rank() == 0) peers.connect(partner, Deadline::after(std::chrono::seconds(20)));
      if (cluster.rank() == partner) peers.connect(0, Deadline::after(std::chrono::seconds(20)));
    }
    completes_at_once() = false;
    if (cluster.rank() == 0) work(adapter, peers);
    cluster.barrier();
  });
}

std::set<Messages::Ticket> all_of(VerbsMessages& messages, std::size_t num) {
  std::set<Messages::Ticket> tickets;
  while (tickets.size() < num) tickets.insert(messages.await_any());
  return tickets;
}

TEST(MessagesOfLostPeers, AreHandedOutAndTheOthersGoOn) {
  with_links_to_two([](Adapter& adapter, Peers& peers) {
    std::array<std::byte, 1000> bytes{};
    VerbsMessages messages(adapter, peers, std::array{1, 2}, 8);
    messages.post_receive(1, bytes, 0);
    messages.post_send(1, bytes, 1);
    messages.post_receive(2, bytes, 2);
    messages.post_send(2, bytes, 3);
    EXPECT_FALSE(messages.poll());
    completions() = {done(peers.at(2), 0), done(peers.at(1), 1, IBV_WC_RETRY_EXC_ERR)};
    EXPECT_EQ(all_of(messages, 3), (std::set<Messages::Ticket>{0, 1, 2}));
    EXPECT_FALSE(messages.poll()) << "what goes to rank 2 is still under way";
    ASSERT_EQ(messages.lost_links().size(), 1u);
    EXPECT_EQ(messages.lost_links().front().partner(), 1);
    EXPECT_THAT(messages.lost_links().front().why(), testing::StartsWith("transport retry counter exceeded on "));
    messages.post_send(1, bytes, 4);
    messages.post_receive(1, bytes, 5);
    EXPECT_EQ(all_of(messages, 2), (std::set<Messages::Ticket>{4, 5})) << "posted later";
    completions() = {done(peers.at(2), 1)};
    EXPECT_EQ(messages.poll(), std::optional<Messages::Ticket>(3));
    EXPECT_EQ(messages.lost_links().size(), 1u);
  });
}

TEST(MessagesOfLostPeers, AreFoundByWhoNeverWaits) {
  with_links_to_two([](Adapter& adapter, Peers& peers) {
    std::array<std::byte, 1000> bytes{};
    VerbsMessages messages(adapter, peers, std::array{1, 2}, 8);
    messages.post_receive(1, bytes, 0);
    messages.post_receive(2, bytes, 1);
    ::shutdown(peers.at(1).socket, SHUT_RD);
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    std::optional<Messages::Ticket> ticket;
    while (!ticket && !deadline.has_passed()) ticket = messages.poll();
    EXPECT_EQ(ticket, std::optional<Messages::Ticket>(0));
    EXPECT_TRUE(messages.is_lost(1));
    EXPECT_FALSE(messages.is_lost(2));
  });
}

TEST(MessagesOfLostPeers, EndTheRunThatNeedsAllLinks) {
  with_links_to_two([](Adapter& adapter, Peers& peers) {
    peers.give_up_silent_links(std::chrono::milliseconds(0));
    std::array<std::byte, 1000> bytes{};
    VerbsMessages messages(adapter, peers, std::array{1, 2}, 8);
    messages.post_receive(1, bytes, 0);
    completions() = {done(peers.at(1), 0, IBV_WC_WR_FLUSH_ERR)};
    EXPECT_THROW(messages.await_any(), cluster::ConnectionLost);
  });
}

}  // namespace
}  // namespace leadline::transport::verbs
