// SPDX-License-Identifier: Apache-2.0
// Opening links: each with a deadline, in an order in which ranks cannot wait for each other in a circle.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cluster/cluster.hpp"
#include "core/progress_counter.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "transport/transport.hpp"

namespace leadline::bench {

/// Local: each of the partners of `rank` once, ordered by a hash of the pair of ranks. All ranks follow one order of
/// all pairs, so the first pair that is not linked yet never waits. The hash keeps chains of waiting ranks short where
/// each rank has few partners; ordered by number, a ring would open link by link.
std::vector<std::int32_t> in_hashed_order(std::span<const std::int32_t> partners, int rank);

/// Partners: opens links, one after the other. Throws Error(run_failed) where a partner does not connect in time.
void open_links(cluster::Cluster& cluster, transport::Transport& transport, std::span<const std::int32_t> partners,
                double timeout_s);

/// Local: whom a rank waits for in an exchange over these channels, with the barrier before it.
AwaitedRanks::Ranks awaited_in(std::span<const kernel::NeighbourChannel> channels, const cluster::Cluster& cluster);

/// Marks a thread as blocked inside a transport call: only these partners can unblock it.
class InTransport {
 public:
  explicit InTransport(ProgressCounter& progress_counter, AwaitedRanks::Ranks awaited = {})
      : progress_counter_(progress_counter) {
    progress_counter_.awaited_ranks.set(std::move(awaited));
    progress_counter_.advance();
    progress_counter_.in_transport.store(true, std::memory_order_relaxed);
  }
  ~InTransport() {
    progress_counter_.in_transport.store(false, std::memory_order_relaxed);
    progress_counter_.advance();
  }
  InTransport(ProgressCounter& progress_counter, std::int32_t partner)
      : InTransport(progress_counter, AwaitedRanks::Ranks{{partner}, {}}) {}
  InTransport(const InTransport&) = delete;
  InTransport& operator=(const InTransport&) = delete;

 private:
  ProgressCounter& progress_counter_;
};

}  // namespace leadline::bench
