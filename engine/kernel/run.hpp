// SPDX-License-Identifier: Apache-2.0
// One measurement over a link: picks the loop once, warms up, then times batch after batch.
#pragma once

#include <span>

#include "core/progress_counter.hpp"
#include "kernel/exchange.hpp"
#include "kernel/link.hpp"
#include "kernel/loops.hpp"
#include "model/samples.hpp"

namespace leadline::kernel {

/// run(), below, over one way to choose buffers.
template <Link L, class Turns>
void run_over(L& link, const Exchange& exchange, Path path, Turns turns, std::span<Sample> samples,
              ProgressCounter& progress_counter) {
  const std::size_t size = exchange.message_size_bytes;

  const auto lead = [&](const auto& messages) {
    if (exchange.num_warmup > 0) messages(exchange.num_warmup);
    time_batches(link, messages, exchange.num_messages, samples, progress_counter);
  };
  const auto follow = [&](const auto& messages) {
    if (exchange.num_warmup > 0) messages(exchange.num_warmup);
    answer_batches(messages, exchange.num_messages, samples.size(), progress_counter);
  };
  const auto both = [&](std::uint32_t window) {
    lead([&, window](std::uint64_t num) { turns = both_ways(link, turns, size, window, num); });
  };

  if (path == Path::to_self) {
    both(exchange.direction == Direction::semidirectional ? 1 : exchange.window);
  } else if (exchange.direction == Direction::bidirectional) {
    both(exchange.window);
  } else if (exchange.direction == Direction::unidirectional && exchange.role == Role::lead) {
    lead([&](std::uint64_t num) { turns = stream_out(link, turns, size, exchange.window, num); });
  } else if (exchange.direction == Direction::unidirectional) {
    follow([&](std::uint64_t num) { turns = stream_in(link, turns, size, exchange.window, num); });
  } else if (exchange.role == Role::lead) {
    lead([&](std::uint64_t num) { turns = ping(link, turns, size, num); });
  } else {
    follow([&](std::uint64_t num) { turns = pong(link, turns, size, num); });
  }
}

/// Partners: both ends with the same exchange, opposite roles and equally many samples. On a path to itself the
/// rank leads, and a ping-pong becomes a loop with one message in flight.
template <Link L>
void run(L& link, const Exchange& exchange, Path path, const Buffers& buffers, std::span<Sample> samples,
         ProgressCounter& progress_counter) {
  if (buffers.num > 1) return run_over(link, exchange, path, BuffersInTurn(buffers), samples, progress_counter);
  run_over(link, exchange, path, OneBuffer(buffers), samples, progress_counter);
}

}  // namespace leadline::kernel
