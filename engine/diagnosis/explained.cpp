// SPDX-License-Identifier: Apache-2.0
// Looks up the blocks of a pair.
#include "diagnosis/explained.hpp"

#include <cstddef>

namespace leadline::diagnosis {

float explained_of(const ExplainedPartition& explained, std::uint32_t from, std::uint32_t to) {
  const auto& part_of = explained.partition->part_of;
  float sum = 0;
  for (const ExplainedBlock& one : explained.blocks) {
    if (one.block.from == part_of[from] && one.block.to == part_of[to]) sum += one.effect;
  }
  return sum;
}

void subtract(const ExplainedPartition& explained, const Row& row, std::vector<float>& residuals) {
  const auto& part_of = explained.partition->part_of;
  for (const ExplainedBlock& one : explained.blocks) {
    if (one.block.from != part_of[row.from]) continue;
    for (std::size_t index = 0; index < residuals.size(); ++index) {
      if (part_of[row.partner(index)] == one.block.to) residuals[index] -= one.effect;
    }
  }
}

}  // namespace leadline::diagnosis
