// SPDX-License-Identifier: Apache-2.0
// Makes queue and memory of an adapter, sleeps until something is done, and says what went wrong.
#include "transport/verbs/adapter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cluster/rendezvous.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "transport/verbs/device_text.hpp"

namespace leadline::transport::verbs {
namespace {

constexpr int wanted_entries = 16384;  // a megabyte of the host's memory
constexpr int most_of_a_sleep_ms = 200;
constexpr std::uint64_t between_looks_ns = 100'000'000;

bool is_closed(int socket) {
  pollfd at{socket, POLLRDHUP, 0};
  return ::poll(&at, 1, 0) > 0 && (at.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

int error_number_of(int socket) {
  int error_number = 0;
  socklen_t length = sizeof error_number;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error_number, &length);
  return error_number;
}

}  // namespace

Adapter::Adapter(Port port, WaitMode wait, Writes writes)
    : port_(std::move(port)),
      wait_(wait),
      look_mask_(wait == WaitMode::spin ? spinning_look_mask : yielding_look_mask),
      writes_(writes) {
  ibv_context* const context = port_.context.get();
  domain_.reset(functions->alloc_pd(context));
  if (!domain_) throw_cannot("make a protection domain", errno);
  if (wait == WaitMode::block) {
    channel_.reset(functions->create_comp_channel(context));
    if (!channel_) throw_cannot("make a channel for completions", errno);
    ::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  }
  ibv_device_attr limits{};
  if (const int problem = functions->query_device(context, &limits); problem != 0)
    throw_cannot("query its device", problem);
  const int entries = std::min(wanted_entries, limits.max_cqe);
  queue_.reset(functions->create_cq(context, entries, nullptr, channel_.get(), 0));
  if (!queue_) throw_cannot("make a completion queue", errno);
  num_entries_ = static_cast<std::uint32_t>(entries);
}

Adapter::~Adapter() {
  if (num_events_ > 0) functions->ack_cq_events(queue_.get(), num_events_);
}

Memory Adapter::memory(const std::byte* data, std::size_t size) {
  Memory memory;
  if (size == 0) return memory;
  const int access = IBV_ACCESS_LOCAL_WRITE | (takes_writes() ? IBV_ACCESS_REMOTE_WRITE : 0);
  memory.region.reset(functions->reg_mr(domain_.get(), const_cast<std::byte*>(data), size, access));
  if (!memory.region) throw_cannot(fmt::format("register {} bytes of memory", size), errno);
  return memory;
}

void Adapter::refuse_too_long(std::size_t message_size_bytes) const {
  if (message_size_bytes <= port_.attributes.max_msg_sz) return;
  throw Error(ExitStatus::run_failed,
              fmt::format("{} carries no messages of {} bytes", port_.text(), message_size_bytes),
              fmt::format("its limit is {}", port_.attributes.max_msg_sz));
}

std::unique_ptr<Peer> Adapter::make_peer(std::int32_t rank) {
  auto peer = std::make_unique<Peer>();
  peer->rank = rank;
  peer->pair = make_pair();
  const auto free = std::find(peers_.begin(), peers_.end(), nullptr);
  peer->index = static_cast<std::uint32_t>(free - peers_.begin());
  if (free == peers_.end()) peers_.push_back(nullptr);
  peers_[peer->index] = peer.get();
  return peer;
}

std::uint32_t Adapter::receives_each(std::size_t num_peers) const {
  return static_cast<std::uint32_t>(std::max<std::size_t>(num_entries_ / 2 / std::max<std::size_t>(num_peers, 1), 1));
}

void Adapter::give_way(YieldingWait& waiting) {
  if (wait_ == WaitMode::block) return sleep();
  waiting.pause();
}

/// Asked for an event, the adapter tells of what is done from then on; so one more look comes before the sleep.
void Adapter::sleep() {
  if (!is_armed_) {
    is_armed_ = ibv_req_notify_cq(queue_.get(), 0) == 0;
    return;
  }
  pollfd wanted{channel_->fd, POLLIN, 0};
  const int ready = ::poll(&wanted, 1, most_of_a_sleep_ms);
  if (ready == 0) look_after_partners();
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ready <= 0 || functions->get_cq_event(channel_.get(), &queue, &context) != 0) return;
  ++num_events_;
  is_armed_ = false;
}

/// Before anything else passes over other connections: what the queue has of this one is for nobody.
void Adapter::close(Peer& peer) {
  peer.pair.handle.reset();
  peer.loop_end.handle.reset();
  std::array<ibv_wc, 16> done;
  for (int num = 0; (num = ibv_poll_cq(queue_.get(), static_cast<int>(done.size()), done.data())) > 0;) {
    take_with_failures({done.data(), static_cast<std::size_t>(num)});
  }
  num_signalled_ -= peer.num_signalled;
  peer.num_signalled = peer.num_unreaped = 0;
  peer.num_asked = peer.num_arrived = 0;
}

void Adapter::give_up(Peer& peer) {
  close(peer);
  ::shutdown(std::exchange(peer.socket, -1), SHUT_RDWR);
}

void Adapter::lose(Peer& peer, const std::string& why) {
  give_up(peer);
  throw cluster::ConnectionLost(peer.rank, fmt::format("lost the connection to rank {}", peer.rank), why);
}

/// A partner that ended in order may have been faster than the queue: it counts as lost only if it is gone at two
/// looks.
void Adapter::look_after_partners() {
  throw_failure();
  const std::uint64_t time_ns = now_ns();
  if (time_ns < next_look_ns_) return;
  next_look_ns_ = time_ns + between_looks_ns;
  for (Peer* const peer : peers_) {
    if (peer == nullptr || peer->socket < 0 || !peer->owes_something() || !is_closed(peer->socket)) continue;
    if (peer->seemed_gone) {
      const int error_number = error_number_of(peer->socket);
      give_up(*peer);
      throw cluster::ConnectionLost::of_socket(peer->rank, error_number);
    }
    peer->seemed_gone = true;
  }
}

/// Of a connection that has failed all that was posted fails behind the first, which alone says why.
void Adapter::take_with_failures(std::span<const ibv_wc> done) {
  for (const ibv_wc& one : done) {
    std::string& failure = peers_[one.wr_id >> 32]->failure;
    if (one.status == IBV_WC_SUCCESS) {
      take(one);
    } else if (failure.empty()) {
      failure = fmt::format("{} on {}", functions->wc_status_str(one.status), port_.text());
    }
  }
}

void Adapter::throw_failure() {
  for (Peer* const peer : peers_) {
    if (peer != nullptr && !peer->failure.empty() && peer->owes_something()) lose(*peer, peer->failure);
  }
}

void Adapter::fail_posting(Peer& peer, int error_number) {
  lose(peer, fmt::format("{}: {}", port_.text(), system_error_text(error_number)));
}

void Adapter::fail_polling() {
  throw Error(ExitStatus::run_failed, "libibverbs cannot say what is done", "its completion queue is broken");
}

}  // namespace leadline::transport::verbs
