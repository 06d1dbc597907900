// SPDX-License-Identifier: Apache-2.0
// Semidirectional: one message there, one back; the loops hold the two calls and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/link.hpp"

namespace leadline::kernel {

template <Link L, class Turns>
inline Turns ping(L& link, Turns turns, std::size_t size, std::uint64_t num_messages) {
  for (; num_messages > 0; --num_messages) {
    link.send(turns.next_to_send(), size);
    link.receive(turns.next_to_receive(), size);
  }
  return turns;
}

template <Link L, class Turns>
inline Turns pong(L& link, Turns turns, std::size_t size, std::uint64_t num_messages) {
  for (; num_messages > 0; --num_messages) {
    link.receive(turns.next_to_receive(), size);
    link.send(turns.next_to_send(), size);
  }
  return turns;
}

}  // namespace leadline::kernel
