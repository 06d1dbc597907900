// SPDX-License-Identifier: Apache-2.0
// Which pairs of a pattern are measured alone behind it, as a measure of what the network could do.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/pattern.hpp"

namespace leadline::bench::bisection {

struct AlonePair {
  std::int32_t from = schedule::no_rank, to = schedule::no_rank;
  bool operator==(const AlonePair&) const = default;
};

/// Different pairs of a matching, drawn at random, at most `num`: on all ranks the same ones for the index-th random
/// pattern of a seed.
std::vector<AlonePair> draw_baseline_pairs(const schedule::Pattern& pattern, std::uint32_t num, std::uint64_t seed,
                                           std::uint64_t index);

}  // namespace leadline::bench::bisection
