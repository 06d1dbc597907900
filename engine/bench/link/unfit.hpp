// SPDX-License-Identifier: Apache-2.0
// What makes a measurement unfit, said by the measurement itself: a pure function of how it was run.
#pragma once

#include <vector>

#include "model/finding.hpp"
#include "model/provenance.hpp"
#include "model/result.hpp"

namespace leadline::bench::link {

/// The conditions of a run, as far as they can spoil it.
struct Conditions {
  int num_players = 1;            ///< ranks that take part in the rounds
  double ranks_per_core_max = 0;  ///< on the fullest host
  bool is_bound = true;           ///< no rank may wander over all cores of a host that it shares with others
  WaitMode wait = WaitMode::spin;
  ClockInfo clock;
  bool simulated = false;
};

/// Findings, most serious first; `slices` may be empty.
std::vector<Finding> unfit(const Conditions& conditions, const std::vector<SliceSummary>& slices);

}  // namespace leadline::bench::link
