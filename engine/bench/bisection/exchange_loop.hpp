// SPDX-License-Identifier: Apache-2.0
// One rank's exchanges with its partner in a pattern: warmed up, timed or verified. Nothing here is in a timed region.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/bisection/measure.hpp"
#include "bench/bisection/request.hpp"
#include "bench/lost_pairs.hpp"
#include "bench/message_memory.hpp"
#include "bench/reductions.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "schedule/pattern.hpp"

namespace leadline::bench::bisection {

/// Each is large enough for every message of the run.
class MessageBuffers {
 public:
  /// Throws Error(something_missing) where the allocator cannot provide them.
  MessageBuffers(const BisectionRequest& request, int rank) : slots_(request, 1, rank) {}

  kernel::NeighbourBuffers all() const { return slots_.all(); }

 private:
  MessageSlots slots_;
};

inline bool rests(const schedule::Route& route) { return route == schedule::Route{}; }
inline bool receives(const schedule::Route& route) { return route.from != schedule::no_rank; }

/// How the messages of a pattern go.
enum class Traffic : std::uint8_t {
  exchanges,  ///< both ways between two ranks at once, and the next ones when both are there
  streams,    ///< one way, the next one when the one before is done, whatever comes in meanwhile
};

inline Traffic traffic_of(const schedule::Pattern& pattern) {
  return pattern.is_matching() ? Traffic::exchanges : Traffic::streams;
}

/// What one rank received: so many messages, one behind the other.
struct Loop {
  schedule::Route route;
  std::uint64_t own_ns = 0;                          ///< all of them; 0 = it received nothing
  std::span<const std::uint64_t> step_ends_ns = {};  ///< when each was done, ascending; valid until the next loop

  /// Of one message; 0 = it received nothing.
  double time_ns() const;
};

/// How many messages are done after `at_ns`; within one, time runs evenly.
double exchanges_done(std::span<const std::uint64_t> step_ends_ns, double at_ns);

class ExchangeLoop {
 public:
  /// Local. References outlive it. All members are part of a step of LostPairs::until_nothing_is_lost().
  ExchangeLoop(const Stage& stage, LostPairs& lost_pairs);

  /// Collective over all ranks, whose routes fit together; links are open. Untimed messages come before the timed
  /// ones.
  Loop run(const schedule::Route& route, Traffic traffic, std::uint64_t message_size_bytes);

  /// Collective likewise: as many exchanges with new contents, the first of them being number `first_exchange` of those
  /// that are verified in this run. Returns the first wrong byte of this rank.
  std::optional<WrongByte> verify(const schedule::Route& route, const PatternPosition& position,
                                  std::uint64_t first_exchange);

  /// Collective: the loop of a pair while all others rest; mean of both ends' times of one exchange, on those two, half
  /// of it each, so that the sum over all ranks is the time; 0 elsewhere.
  double share_of_pair(std::int32_t one, std::int32_t other, std::uint64_t message_size_bytes);

 private:
  void post(const schedule::Route& route, std::uint64_t num_steps);
  kernel::NeighbourExchange exchange(std::uint64_t message_size_bytes) const;
  std::uint64_t time_exchanges(const schedule::Route& route, std::uint64_t num, std::uint64_t message_size_bytes);
  std::uint64_t time_streams(const schedule::Route& route, std::uint64_t num, std::uint64_t message_size_bytes);

  const Stage& stage_;
  LostPairs& lost_pairs_;
  std::vector<kernel::NeighbourChannel> channels_;
  std::vector<std::uint32_t> step_ends_;
  std::vector<std::uint64_t> step_ends_ns_;
  std::vector<kernel::ExchangeSample> verified_;
};

}  // namespace leadline::bench::bisection
