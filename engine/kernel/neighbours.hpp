// SPDX-License-Identifier: Apache-2.0
// Exchanges with many neighbours: timed, as a whole or by direction, traced message by message, verified byte by byte,
// or timed as streams.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/progress_counter.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "memory/pattern.hpp"

namespace leadline::kernel {

/// What a transport offers to these loops: its channels of one exchange, by their index in NeighbourExchange::channels.
/// Nothing is virtual. They know message size and buffers. Failures throw Error(run_failed) off the hot path.
///
/// barrier            All ranks: returns when all have come; never before what was sent earlier can be received.
/// start              An exchange begins: where clocks are virtual, they are 0 again.
/// send, receive      Block until the buffer is free again, or the message is there.
/// post_send, _receive  Do not block. Messages between the same two ranks arrive in the order in which they are posted.
/// await_any_receive  Blocks until a posted receive is done that was not handed out yet: which. Sends go on meanwhile.
/// await_any_posted   Blocks until a posted send or receive is done that was not handed out yet: which. The channel is
///                    free to be posted again. Only where all channels send or receive only; not beside
///                    await_any_receive. A receive that is done does not wait until sends have come to their end.
/// complete_posted    Blocks until everything posted is done, driving everything at once.
/// now_ns             The clock of these channels.
template <class L>
concept NeighbourLinks = requires(L& links, std::size_t channel) {
  links.barrier();
  links.start();
  links.send(channel);
  links.receive(channel);
  links.post_send(channel);
  links.post_receive(channel);
  { links.await_any_receive() } -> std::same_as<std::size_t>;
  { links.await_any_posted() } -> std::same_as<std::size_t>;
  links.complete_posted();
  { links.now_ns() } -> std::same_as<std::uint64_t>;
};

/// Channels [begin, end) of an exchange, and what is to be done about them; looked at once, before anything is timed.
struct NeighbourStep {
  std::size_t begin = 0, end = 0;
  std::size_t num_receives = 0;
  bool has_answers = false;

  bool is_one_answer() const { return has_answers && end - begin == 1; }
};

/// The steps of an exchange, ready for the loops.
std::vector<NeighbourStep> steps_of(const NeighbourExchange& exchange);

template <NeighbourLinks L>
inline void post_step(L& links, std::span<const NeighbourChannel> channels, const NeighbourStep& step) {
  for (std::size_t i = step.begin; i < step.end; ++i) {
    if (sends_first(channels[i].part)) links.post_send(i);
  }
  // Of two channels with the same partner, the one that it starts brings its message first.
  for (std::size_t i = step.begin; step.has_answers && i < step.end; ++i) {
    if (channels[i].part == Part::answers) links.post_receive(i);
  }
  for (std::size_t i = step.begin; i < step.end; ++i) {
    if (channels[i].part == Part::receives || channels[i].part == Part::both) links.post_receive(i);
  }
}

/// Takes the step's messages as they come, and answers those that want it. `arrived` is told of each.
template <NeighbourLinks L, class Arrived>
inline void take_and_answer(L& links, std::span<const NeighbourChannel> channels, const NeighbourStep& step,
                            const Arrived& arrived) {
  for (std::size_t left = step.num_receives; left > 0; --left) {
    const std::size_t i = links.await_any_receive();
    arrived(i);
    if (channels[i].part == Part::answers) links.post_send(i);
  }
}

template <NeighbourLinks L>
inline void do_step(L& links, std::span<const NeighbourChannel> channels, const NeighbourStep& step) {
  if (step.is_one_answer()) {
    links.receive(step.begin);
    links.send(step.begin);
    return;
  }
  post_step(links, channels, step);
  if (step.has_answers) take_and_answer(links, channels, step, [](std::size_t) {});
  links.complete_posted();
}

/// What is done behind each step of an exchange: nothing.
struct NothingBetween {
  void operator()(std::uint64_t /*start_ns*/) const {}
};

/// Barrier, clock, exchange, clock, barrier, clock. `behind_step` is told when the exchange began.
template <NeighbourLinks L, class BehindStep = NothingBetween>
inline ExchangeSample time_exchange(L& links, std::span<const NeighbourChannel> channels,
                                    std::span<const NeighbourStep> steps, const BehindStep& behind_step = {}) {
  links.barrier();
  links.start();
  const std::uint64_t start_ns = links.now_ns();
  for (const NeighbourStep& step : steps) {
    do_step(links, channels, step);
    behind_step(start_ns);
  }
  const std::uint64_t done_ns = links.now_ns();
  links.barrier();
  const std::uint64_t end_ns = links.now_ns();
  // 0 would read as "not measured": a clock that did not move has measured less than one step.
  return {done_ns > start_ns ? done_ns - start_ns : 1, end_ns > start_ns ? end_ns - start_ns : 1};
}

template <NeighbourLinks L>
void warm_up(L& links, const NeighbourExchange& exchange, std::span<const NeighbourStep> steps,
             ProgressCounter& progress_counter) {
  for (std::uint64_t i = 0; i < exchange.num_warmup; ++i) {
    time_exchange(links, exchange.channels, steps);
    progress_counter.advance();
  }
}

/// Collective: see TimedExchanges.
template <NeighbourLinks L>
void time_neighbours(L& links, const NeighbourExchange& exchange, const TimedExchanges& timed,
                     ProgressCounter& progress_counter) {
  const std::vector<NeighbourStep> steps = steps_of(exchange);
  warm_up(links, exchange, steps, progress_counter);
  for (ExchangeSample& sample : timed.samples) {
    if (timed.step_ends_ns.empty()) {
      sample = time_exchange(links, exchange.channels, steps);
    } else {
      auto end = timed.step_ends_ns.begin();
      sample = time_exchange(links, exchange.channels, steps,
                             [&](std::uint64_t start_ns) { *end++ = links.now_ns() - start_ns; });
    }
    progress_counter.advance();
  }
}

/// Collective: one exchange in which the clock is read for every message that arrives. arrivals_ns[i]: since the
/// opening barrier, for the i-th of exchange.channels; of channels that receive nothing left alone.
template <NeighbourLinks L>
void trace_neighbours(L& links, const NeighbourExchange& exchange, std::span<std::uint64_t> arrivals_ns,
                      ProgressCounter& progress_counter) {
  const std::vector<NeighbourStep> steps = steps_of(exchange);
  links.barrier();
  links.start();
  const std::uint64_t start_ns = links.now_ns();
  for (const NeighbourStep& step : steps) {
    post_step(links, exchange.channels, step);
    take_and_answer(links, exchange.channels, step, [&](std::size_t i) {
      const std::uint64_t now_ns = links.now_ns();
      arrivals_ns[i] = now_ns > start_ns ? now_ns - start_ns : 1;
    });
    links.complete_posted();
  }
  links.barrier();
  progress_counter.advance();
}

/// One channel's messages of a stream.
struct Stream {
  Part part = Part::sends;
  std::uint64_t num_left = 0;
  std::uint64_t* next_arrival_ns = nullptr;  ///< where it receives
};

/// By channel, ready for the loop.
std::vector<Stream> streams_of(const NeighbourExchange& exchange, const TimedStreams& timed);

template <NeighbourLinks L>
inline void post_next(L& links, std::size_t channel, Part part) {
  if (part == Part::receives) {
    links.post_receive(channel);
  } else {
    links.post_send(channel);
  }
}

/// Collective: see TimedStreams.
template <NeighbourLinks L>
void stream_neighbours(L& links, const NeighbourExchange& exchange, const TimedStreams& timed,
                       ProgressCounter& progress_counter) {
  std::vector<Stream> streams = streams_of(exchange, timed);
  links.barrier();
  links.start();
  const std::uint64_t start_ns = links.now_ns();
  for (const Part part : {Part::receives, Part::sends}) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].part == part) post_next(links, i, part);
    }
  }
  for (std::size_t num_open = streams.size(); num_open > 0;) {
    const std::size_t i = links.await_any_posted();
    Stream& stream = streams[i];
    if (stream.part == Part::receives) {
      const std::uint64_t now_ns = links.now_ns();
      *stream.next_arrival_ns++ = now_ns > start_ns ? now_ns - start_ns : 1;
    }
    if (--stream.num_left == 0) {
      --num_open;
    } else {
      post_next(links, i, stream.part);
    }
  }
  links.complete_posted();
  links.barrier();
  progress_counter.advance();
}

/// How many channels of an exchange do either.
struct DirectionCounts {
  std::size_t num_sends = 0, num_receives = 0;
};

DirectionCounts direction_counts(const NeighbourExchange& exchange);

template <NeighbourLinks L>
inline DirectionSample time_both_directions(L& links, std::span<const NeighbourChannel> channels,
                                            DirectionCounts left) {
  DirectionSample sample;
  links.barrier();
  links.start();
  const std::uint64_t start_ns = links.now_ns();
  const auto elapsed_ns = [&] {
    const std::uint64_t now_ns = links.now_ns();
    return now_ns > start_ns ? now_ns - start_ns : 1;  // 0 would read as "not measured"
  };
  for (const Part part : {Part::receives, Part::sends}) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].part == part) post_next(links, i, part);
    }
  }
  while (left.num_sends + left.num_receives > 0) {
    if (channels[links.await_any_posted()].part == Part::sends) {
      if (--left.num_sends == 0) sample.sent_ns = elapsed_ns();
    } else if (--left.num_receives == 0) {
      sample.received_ns = elapsed_ns();
    }
  }
  links.complete_posted();
  links.barrier();
  return sample;
}

/// Collective: see TimedDirections.
template <NeighbourLinks L>
void time_directions(L& links, const NeighbourExchange& exchange, const TimedDirections& timed,
                     ProgressCounter& progress_counter) {
  const DirectionCounts counts = direction_counts(exchange);
  for (std::uint64_t i = 0; i < exchange.num_warmup; ++i) {
    time_both_directions(links, exchange.channels, counts);
    progress_counter.advance();
  }
  for (DirectionSample& sample : timed.samples) {
    sample = time_both_directions(links, exchange.channels, counts);
    progress_counter.advance();
  }
}

/// What is sent is new, and what is received gone, so that a message which never came is not taken for the one before.
void renew_contents(const NeighbourExchange& exchange, int own_rank, const NeighbourBuffers& buffers,
                    const Contents& contents, std::uint64_t number);

std::optional<NeighbourMismatch> first_mismatch(const NeighbourExchange& exchange, int own_rank,
                                                const NeighbourBuffers& buffers, const Contents& contents,
                                                std::uint64_t number);

/// Collective: as time_neighbours, but each timed exchange with new contents, every byte compared after the closing
/// barrier. Needs a slot of its own for every channel. Goes on after a mismatch, so that all ranks stay in step;
/// returns the first.
template <NeighbourLinks L>
std::optional<NeighbourMismatch> verify_neighbours(L& links, const NeighbourExchange& exchange, int own_rank,
                                                   const NeighbourBuffers& buffers, const Contents& contents,
                                                   std::span<ExchangeSample> samples,
                                                   ProgressCounter& progress_counter) {
  const std::vector<NeighbourStep> steps = steps_of(exchange);
  warm_up(links, exchange, steps, progress_counter);
  std::optional<NeighbourMismatch> first;
  std::uint64_t number = contents.first_exchange;
  for (ExchangeSample& sample : samples) {
    renew_contents(exchange, own_rank, buffers, contents, number);
    sample = time_exchange(links, exchange.channels, steps);
    if (!first) first = first_mismatch(exchange, own_rank, buffers, contents, number);
    ++number;
    progress_counter.advance();
  }
  return first;
}

/// Collective: the task, by one of the five above. Returns the first mismatch of a verification.
template <NeighbourLinks L>
std::optional<NeighbourMismatch> run_neighbours(L& links, const NeighbourExchange& exchange, int own_rank,
                                                const NeighbourBuffers& buffers, const NeighbourTask& task,
                                                ProgressCounter& progress_counter) {
  if (const auto* timed = std::get_if<TimedExchanges>(&task)) {
    time_neighbours(links, exchange, *timed, progress_counter);
    return std::nullopt;
  }
  if (const auto* traced = std::get_if<TracedExchange>(&task)) {
    trace_neighbours(links, exchange, traced->arrivals_ns, progress_counter);
    return std::nullopt;
  }
  if (const auto* streamed = std::get_if<TimedStreams>(&task)) {
    stream_neighbours(links, exchange, *streamed, progress_counter);
    return std::nullopt;
  }
  if (const auto* directions = std::get_if<TimedDirections>(&task)) {
    time_directions(links, exchange, *directions, progress_counter);
    return std::nullopt;
  }
  const auto& [contents, samples] = std::get<VerifiedExchanges>(task);
  return verify_neighbours(links, exchange, own_rank, buffers, contents, samples, progress_counter);
}

}  // namespace leadline::kernel
