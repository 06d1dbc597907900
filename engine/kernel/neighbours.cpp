// SPDX-License-Identifier: Apache-2.0
// What is done about an exchange outside the timed region: its steps, its streams, the contents of verified messages.
#include "kernel/neighbours.hpp"

#include <cassert>
#include <cstring>

namespace leadline::kernel {

std::vector<NeighbourStep> steps_of(const NeighbourExchange& exchange) {
  std::vector<NeighbourStep> steps;
  steps.reserve(exchange.step_ends.size());
  std::size_t begin = 0;
  for (const std::uint32_t end : exchange.step_ends) {
    NeighbourStep step{.begin = begin, .end = end};
    for (const NeighbourChannel& channel : exchange.channels.subspan(begin, end - begin)) {
      step.num_receives += receives(channel.part) ? 1 : 0;
      step.has_answers |= channel.part == Part::answers;
    }
    steps.push_back(step);
    begin = end;
  }
  return steps;
}

std::vector<Stream> streams_of(const NeighbourExchange& exchange, const TimedStreams& timed) {
  std::vector<Stream> streams;
  if (timed.num_messages == 0) return streams;
  streams.reserve(exchange.channels.size());
  std::uint64_t* next_arrival_ns = timed.arrivals_ns.data();
  for (const NeighbourChannel& channel : exchange.channels) {
    assert((channel.part == Part::sends || channel.part == Part::receives) && "a stream goes one way");
    streams.push_back({channel.part, timed.num_messages, next_arrival_ns});
    if (channel.part == Part::receives) next_arrival_ns += timed.num_messages;
  }
  assert(next_arrival_ns == timed.arrivals_ns.data() + timed.arrivals_ns.size() && "a place for each arrival");
  return streams;
}

DirectionCounts direction_counts(const NeighbourExchange& exchange) {
  DirectionCounts counts;
  for (const NeighbourChannel& channel : exchange.channels) {
    assert((channel.part == Part::sends || channel.part == Part::receives) && "each message goes one way");
    ++(channel.part == Part::sends ? counts.num_sends : counts.num_receives);
  }
  return counts;
}

void renew_contents(const NeighbourExchange& exchange, int own_rank, const NeighbourBuffers& buffers,
                    const Contents& contents, std::uint64_t number) {
  constexpr int wiped = 0xa5;
  const std::size_t size = exchange.message_size_bytes;
  for (const NeighbourChannel& channel : exchange.channels) {
    const std::size_t offset_bytes = channel.slot * buffers.stride_bytes;
    if (receives(channel.part)) std::memset(buffers.receive + offset_bytes, wiped, size);
    if (channel.part == Part::receives) continue;
    memory::fill(
        {buffers.send + offset_bytes, size}, contents.fill,
        {static_cast<std::uint32_t>(own_rank), static_cast<std::uint32_t>(channel.partner), number, contents.seed});
  }
}

std::optional<NeighbourMismatch> first_mismatch(const NeighbourExchange& exchange, int own_rank,
                                                const NeighbourBuffers& buffers, const Contents& contents,
                                                std::uint64_t number) {
  for (const NeighbourChannel& channel : exchange.channels) {
    if (!receives(channel.part)) continue;
    const auto wrong = memory::first_wrong_byte(
        {buffers.receive + channel.slot * buffers.stride_bytes, exchange.message_size_bytes}, contents.fill,
        {static_cast<std::uint32_t>(channel.partner), static_cast<std::uint32_t>(own_rank), number, contents.seed});
    if (wrong) return NeighbourMismatch{channel.partner, number, wrong->byte, wrong->expected, wrong->found};
  }
  return std::nullopt;
}

}  // namespace leadline::kernel
