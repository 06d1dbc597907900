// SPDX-License-Identifier: Apache-2.0
// The timed loops over a link to one partner: ping-pong, one way, both ways; their batches, and which buffers they use;
// and one measurement: picks the loop once, warms up, then times batch after batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/progress_counter.hpp"
#include "kernel/exchange.hpp"
#include "model/samples.hpp"

namespace leadline::kernel {

// The loops are compiled over one of these two. They take it by value and hand it back, so that the first costs two
// registers and nothing a message, and the second goes on where the batch before it ended.

/// Buffers::num is 1.
class OneBuffer {
 public:
  explicit OneBuffer(const Buffers& buffers) : send_(buffers.send), receive_(buffers.receive) {}

  const std::byte* next_to_send() const { return send_; }
  std::byte* next_to_receive() const { return receive_; }

 private:
  const std::byte* send_;
  std::byte* receive_;
};

/// Buffers::num is more.
class BuffersInTurn {
 public:
  explicit BuffersInTurn(const Buffers& buffers)
      : send_(buffers.send),
        receive_(buffers.receive),
        stride_bytes_(buffers.stride_bytes),
        end_bytes_(buffers.num * buffers.stride_bytes) {}

  const std::byte* next_to_send() { return send_ + step(send_at_bytes_); }
  std::byte* next_to_receive() { return receive_ + step(receive_at_bytes_); }

 private:
  std::size_t step(std::size_t& at_bytes) const {
    const std::size_t here = at_bytes;
    at_bytes = here + stride_bytes_ == end_bytes_ ? 0 : here + stride_bytes_;
    return here;
  }

  const std::byte* send_;
  std::byte* receive_;
  std::size_t stride_bytes_, end_bytes_;
  std::size_t send_at_bytes_ = 0, receive_at_bytes_ = 0;
};

/// Messages of batch `index` of `num_batches`: as even as whole messages allow, earlier batches getting the surplus.
constexpr std::uint64_t batch_messages(std::uint64_t num_messages, std::size_t num_batches, std::size_t index) {
  return num_messages / num_batches + (index < num_messages % num_batches ? 1 : 0);
}

/// Runs `messages(n)` once per sample, between two readings of the link's clock.
template <Link L, class Messages>
void time_batches(L& link, const Messages& messages, std::uint64_t num_messages, std::span<Sample> samples,
                  ProgressCounter& progress_counter) {
  for (std::size_t index = 0; index < samples.size(); ++index) {
    const std::uint64_t num = batch_messages(num_messages, samples.size(), index);
    const std::uint64_t start_ns = link.now_ns();
    messages(num);
    const std::uint64_t elapsed_ns = link.now_ns() - start_ns;
    // A clock that did not move has measured "less than one step", and 0 would read as "not measured".
    samples[index] = {elapsed_ns > 0 ? elapsed_ns : 1, num};
    progress_counter.advance();
  }
}

/// The following side of time_batches: the same cuts, no clock.
template <class Messages>
void answer_batches(const Messages& messages, std::uint64_t num_messages, std::size_t num_batches,
                    ProgressCounter& progress_counter) {
  for (std::size_t index = 0; index < num_batches; ++index) {
    messages(batch_messages(num_messages, num_batches, index));
    progress_counter.advance();
  }
}

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
