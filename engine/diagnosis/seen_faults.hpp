// SPDX-License-Identifier: Apache-2.0
// The faults of several slices of a run, or of several runs of the same ranks: each component once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// A fault over all slices. Where it needs action in some of them, `worst` is of these the one in which it costs most;
/// else that of all slices.
struct SeenFault {
  const Fault* worst = nullptr;
  const DiagnosedSlice* slice = nullptr;  ///< of `worst`
  std::size_t num_slices = 0;             ///< in which it was found

  std::size_t index() const { return static_cast<std::size_t>(worst - slice->diagnosis.faults.data()); }
};

/// Slices in which somebody was judged.
std::size_t num_judged(std::span<const DiagnosedSlice> slices);

/// Those that need action first, then by how many slices show them, then by what they cost. The slices outlive them.
std::vector<SeenFault> seen_faults(std::span<const DiagnosedSlice> slices);

}  // namespace leadline::diagnosis
