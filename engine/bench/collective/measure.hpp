// SPDX-License-Identifier: Apache-2.0
// Measures round after round, cell after cell: the one stage that touches the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/collective/output.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/request.hpp"
#include "bench/collective/result.hpp"
#include "bench/lost_pairs.hpp"
#include "cluster/cluster.hpp"
#include "memory/buffer.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::collective {

/// What this rank sends from and receives into.
class MessageMemory {
 public:
  /// Throws Error(something_missing) where there is not so much.
  MessageMemory(const CollectiveRequest& request, const Plan& plan);

  std::byte* send() const { return send_.data(); }
  std::byte* receive() const { return receive_.data(); }

  // In ordinary memory, whatever the allocator.
  void write_sent(std::span<const float> numbers);
  void wipe_received(std::size_t num);
  std::vector<float> received(std::size_t num) const;

 private:
  const memory::Allocator& allocator_;
  memory::Buffer send_, receive_;
};

struct Stage {
  const CollectiveRequest& request;  ///< with an algorithm that is not automatic
  const Plan& plan;
  cluster::Cluster& cluster;
  transport::Transport& transport;
  MessageMemory& memory;
  CellStore& store;
  Progress* progress = nullptr;  ///< rank 0 only
};

/// A group in a batch.
struct GroupSample {
  std::uint32_t round = 0;
  std::uint32_t group = 0;  ///< from 0
  std::uint32_t num_ranks = 0;
  double time_ns = 0;  ///< of an operation, on the slowest rank
};

/// The same on all ranks.
struct Measured {
  std::vector<std::vector<GroupSample>> samples;  ///< by cell
  std::uint64_t verified_bytes = 0;
  Losses losses;
};

/// Collective. A rank or a link that is lost ends it: what was measured before is there, `losses` says what was lost.
/// A wrong number is agreed on by all ranks: AgreedError(run_failed) that names rank, host, operation and number.
void measure(const Stage& stage, Measured& measured);

/// By cell.
std::vector<CellSummary> summaries_of(const Plan& plan, const Measured& measured);

}  // namespace leadline::bench::collective
