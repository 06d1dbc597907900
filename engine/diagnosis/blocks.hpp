// SPDX-License-Identifier: Apache-2.0
// Cables between switches, links between hosts and single pairs that are slow beyond what their ends explain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// One direction between two parts of a partition of the ranks.
struct Block {
  std::uint32_t from = 0, to = 0;
  bool operator==(const Block&) const = default;
};

/// Parts of the ranks: groups of a level, or hosts.
struct Partition {
  ComponentKind kind = ComponentKind::link;  ///< what two parts have between them
  std::int32_t level = -1;
  std::vector<std::uint32_t> part_of;  ///< by rank
  std::uint32_t num_parts = 0;
};

/// What blocks that were found explain: taken off the residuals of single pairs.
struct ExplainedBlock {
  Block block;
  float effect = 0;
};

/// A partition with blocks of it that were found.
struct ExplainedPartition {
  const Partition* partition = nullptr;
  std::vector<ExplainedBlock> blocks;
};

/// The sum over the found blocks that a pair belongs to.
float explained_of(const ExplainedPartition& explained, std::uint32_t from, std::uint32_t to);

/// Takes it off all of a row's residuals.
void subtract(const ExplainedPartition& explained, const Row& row, std::vector<float>& residuals);

/// Collective. Blocks of a partition that stand out, in one direction each. A block counts for what nearly all of its
/// senders show (each: the median over its receivers); its kind is judged by randomly sampled blocks.
std::vector<Suspect> find_blocks(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                 const Partition& partition, std::span<const ExplainedPartition> explained,
                                 const DiagnosisSettings& settings);

/// A slow ordered pair of ranks.
struct IsolatedPair {
  std::uint32_t from = 0, to = 0;
  float residual = 0;
  float value = 0;                                                   ///< as it was measured
  float reverse_residual = std::numeric_limits<float>::quiet_NaN();  ///< of a round trip: of the other order
};

/// Collective. The residual of each ordered pair; NaN = not measured.
std::vector<float> residuals_of_pairs(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                      std::span<const OrderedPair> pairs);

/// Collective. The `most` ordered pairs with the greatest residuals of at least the threshold, greatest first. Both
/// ends need three pairs of its class or more.
std::vector<IsolatedPair> slowest_pairs(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                        std::span<const ExplainedPartition> explained,
                                        const DiagnosisSettings& settings, std::size_t most);

/// The same on all holders of rows. The cable between two switches, where pairs across take so much longer than pairs
/// below both that neither chance nor one more switch on the way accounts for it. Nothing where a network has another
/// number of switches, or where the groups of hosts follow from their times.
std::optional<Suspect> slow_between_two(const Effects& effects, const Setting& setting,
                                        const DiagnosisSettings& settings);

}  // namespace leadline::diagnosis
