// SPDX-License-Identifier: Apache-2.0
// The bisection test's plan: a pure function of the request and the rank layout; `--dry-run` prints it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bisection/request.hpp"
#include "bench/plan.hpp"
#include "schedule/pattern.hpp"

namespace leadline::bench::bisection {

struct Estimate {
  CostAssumption assumption;
  std::uint64_t buffer_bytes = 0;  ///< message buffers of a rank
  std::uint64_t table_bytes = 0;   ///< everything else that grows with ranks or patterns, on one rank
  double host_bytes = 0;           ///< both, of all ranks of the fullest host
  std::uint64_t file_bytes = 0;    ///< of the matrices (HDF5), if all rounds are needed
  double pattern_s = 0;            ///< one pattern of the greatest size: warm-up, exchanges, barriers, baseline
  double measuring_s = 0;          ///< all patterns, if all rounds are needed; at most the time limit
};

struct Plan {
  RankLayout rank_layout;
  schedule::Participants participants;  ///< within_hosts also where there is only one host
  std::vector<std::int32_t> ranks;      ///< that play
  bool has_random = false;
  std::vector<schedule::PatternSpec> named;  ///< in the order asked for, each once
  Estimate estimate;

  /// Patterns of one size at most: random ones, then named ones (all, then all again for each repeat), then steps of
  /// the search.
  std::uint64_t max_patterns(const BisectionRequest& request) const;
};

/// Throws Error(bad_command_line) where so many ranks have no pair or no such pattern, where a pattern is asked for
/// twice, and where --worst is asked for without random patterns.
Plan plan(const BisectionRequest& request, const RankLayout& rank_layout);

/// Throws Error(something_missing) where estimate.host_bytes are not there.
void check_memory(const Plan& plan, std::uint64_t available_bytes);

/// Of a plan that has everything else. O(sizes).
Estimate estimate_of(const BisectionRequest& request, const Plan& plan);

}  // namespace leadline::bench::bisection
