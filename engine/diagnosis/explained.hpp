// SPDX-License-Identifier: Apache-2.0
// Blocks of pairs, and what those explain that were found.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// One way between two parts of a partition of the ranks.
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

}  // namespace leadline::diagnosis
