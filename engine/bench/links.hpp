// SPDX-License-Identifier: Apache-2.0
// Opening links: each with a deadline, in an order in which ranks cannot wait for each other in a circle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cluster.hpp"
#include "core/progress_counter.hpp"
#include "transport/transport.hpp"

namespace leadline::bench {

/// Local: each of the partners of `rank` once, in the order of a number that hashing draws for each pair of ranks. The
/// order is one of all pairs, of which every rank's own is a part, so the least pair that is not linked yet never
/// waits. And since it is drawn, chains of ranks that wait for one another are short where each has few partners,
/// whatever the pattern: an order by place would let a ring open link by link.
std::vector<std::int32_t> in_drawn_order(std::span<const std::int32_t> partners, int rank);

/// Partners: opens links, one after the other. Throws Error(run_failed) where a partner does not come in time.
void open_links(cluster::Cluster& cluster, transport::Transport& transport, std::span<const std::int32_t> partners,
                double timeout_s);

/// Tells the watch that only a partner can help this thread on.
class InTransport {
 public:
  explicit InTransport(ProgressCounter& progress_counter) : progress_counter_(progress_counter) {
    progress_counter_.advance();
    progress_counter_.in_transport.store(true, std::memory_order_relaxed);
  }
  ~InTransport() {
    progress_counter_.in_transport.store(false, std::memory_order_relaxed);
    progress_counter_.advance();
  }
  InTransport(const InTransport&) = delete;
  InTransport& operator=(const InTransport&) = delete;

 private:
  ProgressCounter& progress_counter_;
};

}  // namespace leadline::bench
