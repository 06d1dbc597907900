// SPDX-License-Identifier: Apache-2.0
// Unidirectional: windows of messages one way, one receipt when all of a batch have arrived.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernel/link.hpp"

namespace leadline::kernel {

template <Link L, class Turns>
inline Turns stream_out(L& link, Turns turns, std::size_t size, std::uint32_t window, std::uint64_t num_messages) {
  for (std::uint64_t left = num_messages; left > 0;) {
    const std::uint64_t in_flight = std::min<std::uint64_t>(window, left);
    for (std::uint64_t i = 0; i < in_flight; ++i) link.post_send(turns.next_to_send(), size);
    link.complete_posted();
    left -= in_flight;
  }
  link.await_receipt();
  return turns;
}

template <Link L, class Turns>
inline Turns stream_in(L& link, Turns turns, std::size_t size, std::uint32_t window, std::uint64_t num_messages) {
  for (std::uint64_t left = num_messages; left > 0;) {
    const std::uint64_t in_flight = std::min<std::uint64_t>(window, left);
    for (std::uint64_t i = 0; i < in_flight; ++i) link.post_receive(turns.next_to_receive(), size);
    link.complete_posted();
    left -= in_flight;
  }
  link.send_receipt();
  return turns;
}

}  // namespace leadline::kernel
