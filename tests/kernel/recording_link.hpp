// SPDX-License-Identifier: Apache-2.0
// A link that writes down what the loops do with it; its clock moves by one at each reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/exchange.hpp"

namespace leadline::kernel {

/// s send, r receive, S and R posted, w complete, a and A receipt sent and awaited, c clock.
struct RecordingLink {
  std::string calls;
  std::vector<const std::byte*> out, in;  ///< the buffers of the messages, sent and received, posted or not
  std::uint64_t clock_ns = 0;
  std::uint64_t clock_step_ns = 1;

  void send(const std::byte* data, std::size_t) { note('s', out, data); }
  void receive(std::byte* data, std::size_t) { note('r', in, data); }
  void post_send(const std::byte* data, std::size_t) { note('S', out, data); }
  void post_receive(std::byte* data, std::size_t) { note('R', in, data); }
  void complete_posted() { calls += 'w'; }
  void send_receipt() { calls += 'a'; }
  void await_receipt() { calls += 'A'; }
  std::uint64_t now_ns() {
    calls += 'c';
    return clock_ns += clock_step_ns;
  }

 private:
  void note(char call, std::vector<const std::byte*>& buffers, const std::byte* data) {
    calls += call;
    buffers.push_back(data);
  }
};

static_assert(Link<RecordingLink>);

}  // namespace leadline::kernel
