// SPDX-License-Identifier: Apache-2.0
// What one exchange with many neighbours is, for one rank: the specification that a transport's timed loops follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "memory/pattern.hpp"

namespace leadline::kernel {

/// What a rank does on one of its channels in a step.
enum class Part : std::uint8_t {
  sends,
  receives,
  both,     ///< sends and receives at once
  answers,  ///< receives, then sends
};

constexpr bool sends_first(Part part) { return part == Part::sends || part == Part::both; }
constexpr bool receives(Part part) { return part != Part::sends; }

struct NeighbourChannel {
  std::int32_t partner = 0;
  Part part = Part::both;
  std::uint32_t slot = 0;  ///< which of the rank's buffers
};

/// The channels of a rank, step after step: everything of a step is posted, sends before receives, and done before the
/// next step begins. A step in which a rank answers one message and does nothing else is a blocking receive and a
/// blocking send. The steps of all ranks fit together; a rank without channels takes part in the barriers only.
struct NeighbourExchange {
  std::span<const NeighbourChannel> channels{};
  std::span<const std::uint32_t> step_ends{};  ///< where in `channels` each step ends, ascending
  std::size_t message_size_bytes = 0;          ///< at least 1
  std::uint64_t num_warmup = 0;                ///< untimed exchanges before the timed ones
};

/// Slot i lies i strides behind the beginnings, which the caller owns. Stride 0: all slots are one.
struct NeighbourBuffers {
  std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::size_t stride_bytes = 0;
};

/// One exchange of one rank, from the moment it leaves the opening barrier.
struct ExchangeSample {
  std::uint64_t own_ns = 0;           ///< until everything of its own is done
  std::uint64_t with_barrier_ns = 0;  ///< until it leaves the closing barrier
};

/// Contents for exchanges that are verified: those of a message follow from its two ranks and the number of the
/// exchange.
struct Contents {
  Fill fill = Fill::random;
  std::uint64_t seed = 1;
  std::uint64_t first_exchange = 0;  ///< the number of the first one
};

/// An exchange for each sample, timed, after exchange.num_warmup whose times are dropped. step_ends_ns: empty, or for
/// each step how long after its beginning the last of these exchanges was done with it; costs a reading of the clock a
/// step.
struct TimedExchanges {
  std::span<ExchangeSample> samples;
  std::span<std::uint64_t> step_ends_ns{};
};

/// One exchange in which arrivals_ns[i] becomes how long after the opening barrier the message of exchange.channels[i]
/// was there; left alone where none is received.
struct TracedExchange {
  std::span<std::uint64_t> arrivals_ns;
};

/// As TimedExchanges, each timed one with new contents and every byte compared where it arrives. Every channel has a
/// slot of its own.
struct VerifiedExchanges {
  Contents contents;
  std::span<ExchangeSample> samples;
};

/// The one step of an exchange as streams: on each channel, which sends or receives only, num_messages, each posted as
/// soon as the one before is done, whatever becomes of the other channels. No two channels receive from the same rank.
/// arrivals_ns: of each receiving channel in turn, how long after the opening barrier each of its messages was there;
/// ascending. exchange.num_warmup does not count.
struct TimedStreams {
  std::uint64_t num_messages = 0;
  std::span<std::uint64_t> arrivals_ns;
};

/// One exchange of one rank, from the moment it leaves the opening barrier, both ways apart.
struct DirectionSample {
  std::uint64_t sent_ns = 0;      ///< until its last message is sent; left alone where it sends none
  std::uint64_t received_ns = 0;  ///< until its last message is there; left alone where it receives none
};

/// The one step of an exchange, an exchange for each sample after exchange.num_warmup: on channels that send or receive
/// only, everything posted at once, receives before sends. Several channels may have the same partner.
struct TimedDirections {
  std::span<DirectionSample> samples;
};

/// What is to be done with an exchange.
using NeighbourTask = std::variant<TimedExchanges, TracedExchange, VerifiedExchanges, TimedStreams, TimedDirections>;

/// The first wrong byte that a rank received.
struct NeighbourMismatch {
  std::int32_t from = 0;
  std::uint64_t exchange = 0;  ///< its number, as Contents counts
  std::uint64_t byte = 0;      ///< 0-based
  std::uint8_t expected = 0, found = 0;
};

}  // namespace leadline::kernel
