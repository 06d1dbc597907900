// SPDX-License-Identifier: Apache-2.0
// The collective test's plan: which operations, and which groups of hosts; a pure function of the request and the rank
// layout. `--dry-run` prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/collective/request.hpp"
#include "bench/collective/result.hpp"
#include "bench/plan.hpp"

namespace leadline::bench::collective {

struct Plan {
  RankLayout rank_layout;
  std::vector<std::vector<std::int32_t>> hosts;  ///< ranks that take part, by host; ascending
  std::size_t group_hosts = 0;                   ///< hosts of a group
  std::size_t num_groups = 1;                    ///< of each round
  std::vector<Cell> cells;                       ///< operation by operation, size by size
  CostAssumption assumption;
  double measuring_s = 0;
  double host_bytes = 0;  ///< buffers of the ranks of the fullest host

  /// Ranks of the smallest and of the largest group that there can be.
  std::size_t least_ranks = 0, most_ranks = 0;
};

/// `is_absent`: by rank, which do not take part. Throws Error(bad_command_line) where there are too few hosts for a
/// group, or a group may have one rank.
Plan plan(const CollectiveRequest& request, const RankLayout& rank_layout, const std::vector<bool>& is_absent);

/// Ranks of a group in the order of a ring: those of a host beside each other.
using Group = std::vector<std::int32_t>;

/// The groups of a round, disjoint; a host that is in none rests. With several, hosts are chosen at random.
std::vector<Group> groups_of(const Plan& plan, std::uint64_t seed, std::uint32_t round);

/// Our own operations add numbers up in ordinary memory. Throws Error(bad_command_line).
void check_memory_of_ring(const CollectiveRequest& request);

/// Bytes of each of the two buffers of a rank.
std::uint64_t buffer_bytes(const CollectiveRequest& request, const Plan& plan);

}  // namespace leadline::bench::collective
