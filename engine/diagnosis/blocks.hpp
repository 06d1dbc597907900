// SPDX-License-Identifier: Apache-2.0
// Cables between switches, links between hosts and single pairs that are slow beyond what their ends explain.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/explained.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "diagnosis/suspect.hpp"

namespace leadline::diagnosis {

/// A slow ordered pair of ranks.
struct LonePair {
  std::uint32_t from = 0, to = 0;
  float residual = 0;
  float value = 0;  ///< as it was measured
};

/// Collective. Blocks of a partition that stand out, of one way each. A block counts for what nearly all of its senders
/// show (each: the median over its receivers); its kind is judged by blocks drawn at random.
std::vector<Suspect> find_blocks(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                 const Partition& partition, std::span<const ExplainedPartition> explained,
                                 const DiagnosisSettings& settings);

/// Collective. The `most` ordered pairs with the greatest residuals of at least the threshold, greatest first. Both
/// ends have three pairs of its class or more, or nobody could tell.
std::vector<LonePair> slowest_pairs(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                    std::span<const ExplainedPartition> explained, const DiagnosisSettings& settings,
                                    std::size_t most);

}  // namespace leadline::diagnosis
