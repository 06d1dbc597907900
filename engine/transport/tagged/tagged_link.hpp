// SPDX-License-Identifier: Apache-2.0
// A link over a library of tagged messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/clock.hpp"
#include "kernel/exchange.hpp"
#include "model/request.hpp"
#include "transport/buffers.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::tagged {

/// The two ends of a link.
template <Port P>
struct LinkEndpoints {
  typename P::Peer peer;
  std::int32_t own = 0, partner = 0;
};

/// The memory of a measurement's buffers.
template <Port P>
struct BufferMemory {
  BufferMemory(P& port, std::size_t message_size_bytes, const kernel::Buffers& buffers)
      : out(port.memory(buffers.send, reach(message_size_bytes, buffers))),
        in(port.memory(buffers.receive, reach(message_size_bytes, buffers))) {}

  typename P::Memory out, in;
};

/// See kernel/link.hpp. As many messages may be posted at once as there are requests, which outlive the link like the
/// memory; so it is cheap to make.
template <Port P, WaitMode wait>
class TaggedLink {
 public:
  using Request = typename P::Request;

  TaggedLink(P& port, const LinkEndpoints<P>& ends, const BufferMemory<P>& memory, std::span<Request> requests)
      : port_(port),
        peer_(ends.peer),
        out_{Kind::link, ends.own},
        in_{Kind::link, ends.partner},
        memory_(memory),
        requests_(requests) {}

  void send(const std::byte* data, std::size_t size) {
    post_send(data, size, requests_[0]);
    await(requests_[0]);
  }

  void receive(std::byte* data, std::size_t size) {
    post_receive(data, size, requests_[0]);
    await(requests_[0]);
  }

  void post_send(const std::byte* data, std::size_t size) { post_send(data, size, requests_[num_posted_++]); }
  void post_receive(std::byte* data, std::size_t size) { post_receive(data, size, requests_[num_posted_++]); }

  void complete_posted() {
    for (Request& request : requests_.first(num_posted_)) await(request);
    num_posted_ = 0;
  }

  void send_receipt() { send(nullptr, 0); }
  void await_receipt() { receive(nullptr, 0); }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  void post_send(const std::byte* data, std::size_t size, Request& request) {
    on_link(in_.sender, [&] { port_.post_send(peer_, out_, memory_.out, data, size, request); });
  }

  void post_receive(std::byte* data, std::size_t size, Request& request) {
    on_link(in_.sender, [&] { port_.post_receive(peer_, in_, memory_.in, data, size, request); });
  }

  void await(Request& request) {
    on_link(in_.sender, [&] { drive_until<wait>(port_, [&] { return port_.is_done(request); }); });
  }

  P& port_;
  typename P::Peer peer_;
  Tag out_, in_;
  const BufferMemory<P>& memory_;
  std::size_t num_posted_ = 0;
  std::span<Request> requests_;
};

}  // namespace leadline::transport::tagged
