// SPDX-License-Identifier: Apache-2.0
// Bidirectional: windows of messages both ways at once; with the rank itself as partner, the loop to itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernel/link.hpp"

namespace leadline::kernel {

/// Both ends run it. On a link to oneself what is posted to receive is what is posted to send.
template <Link L, class Turns>
inline Turns both_ways(L& link, Turns turns, std::size_t size, std::uint32_t window, std::uint64_t num_messages) {
  for (std::uint64_t left = num_messages; left > 0;) {
    const std::uint64_t in_flight = std::min<std::uint64_t>(window, left);
    for (std::uint64_t i = 0; i < in_flight; ++i) link.post_receive(turns.next_to_receive(), size);
    for (std::uint64_t i = 0; i < in_flight; ++i) link.post_send(turns.next_to_send(), size);
    link.complete_posted();
    left -= in_flight;
  }
  return turns;
}

}  // namespace leadline::kernel
