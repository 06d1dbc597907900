// SPDX-License-Identifier: Apache-2.0
// The link test's plan: a pure function of the request and of who is there; `--dry-run` prints it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/request.hpp"
#include "model/result.hpp"
#include "schedule/schedule.hpp"

namespace leadline::bench::link {

/// Who is there, as far as the plan depends on it.
struct Presence {
  int num_ranks = 1;
  int max_ranks_per_host = 1;
};

/// What the estimate takes a message to cost; a guess for commodity networks, printed beside the estimate.
struct CostAssumption {
  double latency_ns = 10'000;
  double bandwidth_bytes_per_s = 1 << 30;
};

struct Estimate {
  CostAssumption assumption;
  double measuring_s = 0;          ///< all repeats and sizes, without retest and barriers
  std::uint64_t buffer_bytes = 0;  ///< message buffers of one rank
  std::uint64_t table_bytes = 0;   ///< everything that grows with the number of ranks, on one rank
  std::uint64_t file_bytes = 0;    ///< of the matrices, once every pair is measured
};

struct Plan {
  Presence presence;
  int num_repeats = 1;            ///< --repeat, for each permutation
  std::int64_t num_rounds = 0;    ///< of one slice
  std::uint32_t num_batches = 1;  ///< timed batches of one measurement
  Estimate estimate;
};

/// Throws Error(bad_command_line) where the request cannot be met by so many ranks (a round that does not exist ...).
Plan plan(const LinkRequest& request, const Presence& presence);

/// The permutation that a repeat runs under; -1 = ranks as they are.
int permutation_of(const LinkRequest& request, int repeat);

/// What the schedule of one repeat is made from.
schedule::Spec schedule_spec(const LinkRequest& request, int num_ranks, int repeat);

/// The slices of one repeat, one a message size.
std::vector<Slice> slices_of(const LinkRequest& request, int repeat);

/// Throws Error(something_missing) where the buffers of all ranks of a host do not fit into its free memory.
void check_memory(const Plan& plan, std::uint64_t available_bytes);

/// Bytes a process can still get here: free memory of the host, or what its control group leaves.
std::uint64_t available_memory_bytes();

}  // namespace leadline::bench::link
