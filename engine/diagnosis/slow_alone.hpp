// SPDX-License-Identifier: Apache-2.0
// Link tests of busy machines: what pairs take under load says little, so those that were measured alone come first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// What is slow by pairs alone, whatever they take under load.
struct SlowAlone {
  bool is_busy = false;  ///< what pairs take does not follow from what they take alone
  double scatter = 0;    ///< of the one around the other, logarithm; where it is busy
  std::vector<Fault> faults;
  std::uint64_t num_pairs = 0;                                    ///< measured ones that pass them
  std::function<bool(std::uint32_t from, std::uint32_t to)> has;  ///< whether a pair does; empty without faults
};

/// Collective. Nothing where too few pairs were measured alone, the machine is not busy, or the pairs are more than can
/// be gathered.
SlowAlone find_slow_alone(const Question& question);

/// The rows without pairs that pass what is slow alone; both outlive it.
std::unique_ptr<Rows> without_slow_alone(const Rows& rows, const SlowAlone& slow);

}  // namespace leadline::diagnosis
