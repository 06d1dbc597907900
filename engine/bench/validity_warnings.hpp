// SPDX-License-Identifier: Apache-2.0
// What makes a measurement unfit, said by the measurement itself: the part that all benchmarks share.
#pragma once

#include <optional>
#include <vector>

#include "model/provenance.hpp"
#include "model/result.hpp"

namespace leadline::bench {

/// The conditions of a run, as far as they can spoil it.
struct Conditions {
  double ranks_per_core_max = 0;  ///< on the fullest host
  bool is_bound = true;           ///< no rank may wander over all cores of a host that it shares with others
  WaitMode wait = WaitMode::spin;
  ClockInfo clock;
  bool simulated = false;
};

/// The shortest thing that a benchmark has timed with one reading of the clock at either end, and words about it.
struct ShortestTimed {
  double time_ns = 0;            ///< infinite where nothing was timed
  const char* name = "";         ///< "fastest message"
  const char* consequence = "";  ///< what is inexact when the clock is coarse
  const char* advice = "";
};

/// Oversubscribed, clock too coarse, not bound: most serious first. Nothing where times are simulated, since virtual
/// time suffers from nothing that this machine does.
std::vector<Finding> machine_validity_warnings(const Conditions& conditions, const ShortestTimed& shortest);

std::optional<Finding> simulated(const Conditions& conditions);

}  // namespace leadline::bench
