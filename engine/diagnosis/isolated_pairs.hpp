// SPDX-License-Identifier: Apache-2.0
// Single pairs that are slow beyond what their ends and what was found of larger places explain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/explained.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// A slow ordered pair of ranks.
struct IsolatedPair {
  std::uint32_t from = 0, to = 0;
  float residual = 0;
  float value = 0;  ///< as it was measured
};

/// Collective. The `most` ordered pairs with the greatest residuals of at least the threshold, greatest first. Both
/// ends have three pairs of its class or more, or nobody could tell.
std::vector<IsolatedPair> slowest_pairs(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                        std::span<const ExplainedPartition> explained,
                                        const DiagnosisSettings& settings, std::size_t most);

}  // namespace leadline::diagnosis
