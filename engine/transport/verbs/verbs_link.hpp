// SPDX-License-Identifier: Apache-2.0
// A link over a reliable connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"
#include "transport/verbs/flow.hpp"

namespace leadline::transport::verbs {

/// Whether messages come as soon as their receives are posted, or each when the receiver says that its memory is ready.
enum class Pace { free, on_request };

/// See kernel/link.hpp. The flow outlives it; so it is cheap to make.
template <Pace pace>
class VerbsLink {
 public:
  explicit VerbsLink(Flow& flow) : flow_(flow) {}

  void send(const std::byte* data, std::size_t) {
    if constexpr (pace == Pace::on_request) flow_.await_next();
    if (flow_.is_copied()) return flow_.post(data, Notice::when_due);
    flow_.post(data, Notice::always);
    flow_.await_sends();
  }

  void receive(std::byte*, std::size_t) {
    if constexpr (pace == Pace::on_request) flow_.post_empty();
    flow_.await_next();
  }

  void post_send(const std::byte* data, std::size_t) { flow_.post(data, Notice::always); }
  void post_receive(std::byte*, std::size_t) { flow_.ask(); }

  void complete_posted() {
    flow_.await_arrivals();
    flow_.await_sends();
  }

  void send_receipt() { flow_.post_empty(); }
  void await_receipt() { flow_.await_next(); }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  Flow& flow_;
};

}  // namespace leadline::transport::verbs
