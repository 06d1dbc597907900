// SPDX-License-Identifier: Apache-2.0
// Cables between switches and links between hosts that are slow beyond what their ends explain.
#pragma once

#include <span>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/explained.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "diagnosis/suspect.hpp"

namespace leadline::diagnosis {

/// Collective. Blocks of a partition that stand out, of one way each. A block counts for what nearly all of its senders
/// show (each: the median over its receivers); its kind is judged by blocks drawn at random.
std::vector<Suspect> find_blocks(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                 const Partition& partition, std::span<const ExplainedPartition> explained,
                                 const DiagnosisSettings& settings);

}  // namespace leadline::diagnosis
