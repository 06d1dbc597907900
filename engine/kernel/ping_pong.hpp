// SPDX-License-Identifier: Apache-2.0
// Semidirectional: one message there, one back; the loops hold the two calls and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/exchange.hpp"
#include "kernel/link.hpp"

namespace leadline::kernel {

template <Link L>
inline void ping(L& link, Buffers buffers, std::size_t size, std::uint64_t num_messages) {
  for (; num_messages > 0; --num_messages) {
    link.send(buffers.send, size);
    link.receive(buffers.receive, size);
  }
}

template <Link L>
inline void pong(L& link, Buffers buffers, std::size_t size, std::uint64_t num_messages) {
  for (; num_messages > 0; --num_messages) {
    link.receive(buffers.receive, size);
    link.send(buffers.send, size);
  }
}

}  // namespace leadline::kernel
