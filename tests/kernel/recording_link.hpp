// SPDX-License-Identifier: Apache-2.0
// A link that writes down what the loops do with it; its clock moves by one at each reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernel/link.hpp"

namespace leadline::kernel {

/// s send, r receive, S and R posted, w complete, a and A receipt sent and awaited, c clock.
struct RecordingLink {
  std::string calls;
  std::uint64_t clock_ns = 0;
  std::uint64_t clock_step_ns = 1;

  void send(const std::byte*, std::size_t) { calls += 's'; }
  void receive(std::byte*, std::size_t) { calls += 'r'; }
  void post_send(const std::byte*, std::size_t) { calls += 'S'; }
  void post_receive(std::byte*, std::size_t) { calls += 'R'; }
  void complete_posted() { calls += 'w'; }
  void send_receipt() { calls += 'a'; }
  void await_receipt() { calls += 'A'; }
  std::uint64_t now_ns() {
    calls += 'c';
    return clock_ns += clock_step_ns;
  }
};

static_assert(Link<RecordingLink>);

}  // namespace leadline::kernel
