// SPDX-License-Identifier: Apache-2.0
// The port of the example with one planted fault, for the tests that show that the contract suite notices it.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "local_sockets_port.hpp"

namespace leadline::transport::faulty {

/// Faults of a port or of what is made of it; the names are those of the tests.
enum class Fault : std::uint8_t {
  none,
  flush_without_deadline,
  open_blocks,
  open_never_returns,
  send_never_done,
  receive_never_done,
  receive_done_too_early,
  post_waits,
  progress_waits,
  reordered,
  twice,
  last_byte_wrong,
  byte_behind_the_end,
  wrong_receiver,
  empty_lost,
  token_needs_receive,
  send_done_too_early,
  sent_at_next_post,
  no_barrier,
  loss_unnoticed,
  never_closed,
  to_itself_lost,
  wrong_ticket,
  samples_without_surplus,
  counter_stands_still,
  opens_again,
  wrong_name,
};

class FaultyPort {
 public:
  using Inner = local_sockets::LocalSocketsPort;

  static constexpr bool keeps_endpoints = true;
  static constexpr bool survives_lost_partners = false;

  struct Peer {
    Inner::Peer inner = nullptr;
    std::size_t index = 0;
    bool is_self = false;
  };
  using Memory = Inner::Memory;
  struct Request {
    Inner::Request message{}, acknowledgement{};
    bool is_receive = false, is_held = false, is_lost = false, is_finished = false;
    Peer peer{};
    tagged::Tag tag{};
    std::byte* data = nullptr;
    std::size_t size = 0;
  };

  explicit FaultyPort(Fault fault) : fault_(fault) {}

  Memory memory(const std::byte*, std::size_t) const { return {}; }

  void post_send(Peer peer, tagged::Tag tag, const Memory& memory, const std::byte* data, std::size_t size,
                 Request& request) {
    send_held();
    request = {.peer = peer, .tag = tag, .data = const_cast<std::byte*>(data), .size = size};
    const bool is_link = tag.kind != tagged::Kind::greeting;
    if (fault_ == Fault::empty_lost && is_link && size == 0) return;
    if (fault_ == Fault::to_itself_lost && is_link && peer.is_self) return;
    if (fault_ == Fault::no_barrier && tag.kind == tagged::Kind::token) return;
    if (fault_ == Fault::send_never_done && is_link) request.is_lost = true;
    if (is_link && (fault_ == Fault::send_done_too_early || fault_ == Fault::sent_at_next_post)) {
      request.is_held = true;
      held_.push_back(request);
      return;
    }
    if (fault_ == Fault::wrong_receiver && tag.kind == tagged::Kind::single && !peer.is_self && peers_.size() > 1) {
      peer = peers_[(peer.index + 1) % peers_.size()];
    }
    inner_.post_send(peer.inner, tag, memory, data, size, request.message);
    if (fault_ == Fault::twice && tag.kind == tagged::Kind::link) {
      spare_.push_back(std::make_unique<Inner::Request>());
      inner_.post_send(peer.inner, tag, memory, data, size, *spare_.back());
    }
    if (needs_acknowledgement(request)) {
      inner_.post_receive(peer.inner, acknowledgement(tag.kind), memory, nullptr, 0, request.acknowledgement);
    }
    if (fault_ == Fault::post_waits && tag.kind == tagged::Kind::single) {
      while (!inner_.is_done(request.acknowledgement)) inner_.progress();
    }
  }

  void post_receive(Peer peer, tagged::Tag tag, const Memory& memory, std::byte* data, std::size_t size,
                    Request& request) {
    send_held();
    request = {.is_receive = true, .peer = peer, .tag = tag, .data = data, .size = size};
    if (fault_ == Fault::no_barrier && tag.kind == tagged::Kind::token) return;
    if (fault_ == Fault::receive_done_too_early && tag.kind == tagged::Kind::link) {
      spare_.push_back(std::make_unique<Inner::Request>());
      too_late_.emplace_back(size);
      inner_.post_receive(peer.inner, tag, memory, too_late_.back().data(), size, *spare_.back());
      return;
    }
    if (fault_ == Fault::receive_never_done && tag.kind != tagged::Kind::greeting) request.is_lost = true;
    if (fault_ == Fault::reordered && tag.kind == tagged::Kind::single) {
      // Of two receives the later one is posted first.
      if (swapped_ == nullptr) {
        request.is_held = true;
        swapped_ = &request;
        return;
      }
      inner_.post_receive(peer.inner, tag, memory, data, size, request.message);
      post_swapped();
      return;
    }
    inner_.post_receive(peer.inner, tag, memory, data, size, request.message);
  }

  bool is_done(Request& request) {
    if (request.is_lost) return false;
    if (&request == swapped_) {
      post_swapped();
      return false;
    }
    if (request.is_held) return true;
    if (!inner_done(request.message)) return false;
    if (request.is_receive) {
      if (!std::exchange(request.is_finished, true)) finish_receive(request);
    } else if (needs_acknowledgement(request)) {
      return inner_done(request.acknowledgement);
    }
    return true;
  }

  bool progress() {
    if (fault_ == Fault::progress_waits) {
      while (!inner_.progress()) std::this_thread::yield();
      return true;
    }
    const bool any = inner_.progress();
    if (fault_ == Fault::send_done_too_early) send_held();
    return any;
  }

  bool flush(Deadline deadline) {
    if (fault_ == Fault::flush_without_deadline) {
      for (;;) inner_.progress();
    }
    return inner_.flush(deadline);
  }

  static std::uint64_t max_message_bytes() { return Inner::max_message_bytes(); }
  std::string address() const { return inner_.address(); }

  Peer open(std::string_view address) {
    if (fault_ == Fault::open_blocks) std::this_thread::sleep_for(std::chrono::seconds(3));
    while (fault_ == Fault::open_never_returns) std::this_thread::sleep_for(std::chrono::seconds(1));
    if (fault_ == Fault::never_closed) static_cast<void>(::dup(STDERR_FILENO));
    peers_.push_back({inner_.open(address), peers_.size(), address == inner_.address()});
    return peers_.back();
  }
  void close(Peer peer) { inner_.close(peer.inner); }

  TransportInfo info() const {
    TransportInfo info = inner_.info();
    info.name = fault_ == Fault::wrong_name ? "local_sockets" : "faulty";
    return info;
  }

 private:
  /// Of two ranks: the sender does not matter.
  static tagged::Tag acknowledgement(tagged::Kind of) {
    return {static_cast<tagged::Kind>(static_cast<std::uint8_t>(of) + 100), 0};
  }

  bool needs_acknowledgement(const Request& request) const {
    using tagged::Kind;
    if (fault_ == Fault::token_needs_receive) return request.tag.kind == Kind::token;
    return fault_ == Fault::post_waits && request.tag.kind == Kind::single;
  }

  bool inner_done(Inner::Request& request) {
    if (fault_ != Fault::loss_unnoticed) return inner_.is_done(request);
    try {
      return inner_.is_done(request);
    } catch (const tagged::MessageFailed&) {
      return false;
    }
  }

  void finish_receive(const Request& request) {
    if (fault_ == Fault::last_byte_wrong && request.size > 1) request.data[request.size - 1] ^= std::byte{1};
    if (fault_ == Fault::byte_behind_the_end && request.size > 1) request.data[request.size] = std::byte{1};
    if (!needs_acknowledgement(request)) return;
    spare_.push_back(std::make_unique<Inner::Request>());
    inner_.post_send(request.peer.inner, acknowledgement(request.tag.kind), {}, nullptr, 0, *spare_.back());
  }

  void send_held() {
    for (const Request& held : std::exchange(held_, {})) {
      spare_.push_back(std::make_unique<Inner::Request>());
      inner_.post_send(held.peer.inner, held.tag, {}, held.data, held.size, *spare_.back());
    }
  }

  void post_swapped() {
    Request& first = *std::exchange(swapped_, nullptr);
    first.is_held = false;
    inner_.post_receive(first.peer.inner, first.tag, {}, first.data, first.size, first.message);
  }

  Fault fault_;
  Inner inner_;
  std::vector<Peer> peers_;
  std::vector<Request> held_;  ///< sends
  Request* swapped_ = nullptr;
  std::vector<std::vector<std::byte>> too_late_;
  std::vector<std::unique_ptr<Inner::Request>> spare_;  ///< of messages that nobody asks about
};

}  // namespace leadline::transport::faulty
