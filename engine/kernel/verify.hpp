// SPDX-License-Identifier: Apache-2.0
// The verification pass, untimed: every message new, every byte checked where it arrives.
#pragma once

#include <cstring>
#include <optional>
#include <span>

#include "core/progress_counter.hpp"
#include "kernel/exchange.hpp"
#include "memory/pattern.hpp"
#include "model/samples.hpp"

namespace leadline::kernel {

/// The two ranks of a pass, by their part in it.
struct TransferRanks {
  int sender = 0;
  int receiver = 0;
};

/// Partners: num_messages messages from the leading to the following side (direction, warm-up and window do not
/// matter). The receiver wipes its buffer before every message, so that one which never came is not taken for the
/// one before it; it goes on receiving after a mismatch, so that both ends stay in step.
template <Link L>
std::optional<Mismatch> verify(L& link, const Exchange& exchange, TransferRanks ends, const Buffers& buffers, Fill fill,
                               ProgressCounter& progress_counter) {
  constexpr int wiped = 0xa5;
  const std::size_t size = exchange.message_size_bytes;
  const bool to_self = ends.sender == ends.receiver;
  const bool sends = exchange.role == Role::lead;
  const bool receives = to_self || !sends;

  std::optional<Mismatch> first;
  for (std::uint64_t message = 0; message < exchange.num_messages; ++message) {
    const memory::PatternKey key{static_cast<std::uint32_t>(ends.sender), static_cast<std::uint32_t>(ends.receiver),
                                 message};
    if (receives && size > 0) std::memset(buffers.receive, wiped, size);
    if (sends) memory::fill({buffers.send, size}, fill, key);
    if (to_self) {
      link.post_receive(buffers.receive, size);
      link.post_send(buffers.send, size);
      link.complete_posted();
    } else if (sends) {
      link.send(buffers.send, size);
    } else {
      link.receive(buffers.receive, size);
    }
    if (receives && !first) {
      if (const auto wrong = memory::first_wrong_byte({buffers.receive, size}, fill, key)) {
        first = Mismatch{message, wrong->byte, wrong->expected, wrong->found};
      }
    }
    progress_counter.advance();
  }
  return first;
}

}  // namespace leadline::kernel
