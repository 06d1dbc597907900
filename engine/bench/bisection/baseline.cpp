// SPDX-License-Identifier: Apache-2.0
// The first steps of a Fisher-Yates shuffle over the pattern's pairs.
#include "bench/bisection/baseline.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/random.hpp"

namespace leadline::bench::bisection {
namespace {

constexpr std::uint64_t baseline_stream = std::uint64_t{3} << 61;  // next to those of schedule/pattern.cpp

}  // namespace

std::vector<AlonePair> draw_baseline_pairs(const schedule::Pattern& pattern, std::uint32_t num, std::uint64_t seed,
                                           std::uint64_t index) {
  if (num == 0) return {};
  std::vector<std::int32_t> lower;  // of each pair the lower rank
  lower.reserve(pattern.send_to.size() / 2);
  for (std::size_t rank = 0; rank < pattern.send_to.size(); ++rank) {
    const auto own = static_cast<std::int32_t>(rank);
    if (pattern.send_to[rank] > own) lower.push_back(own);
  }
  Random random(seed, baseline_stream + index);
  std::vector<AlonePair> pairs;
  const std::size_t wanted = std::min<std::size_t>(num, lower.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    std::swap(lower[i], lower[i + random.below(lower.size() - i)]);
    pairs.push_back({lower[i], pattern.send_to[static_cast<std::size_t>(lower[i])]});
  }
  return pairs;
}

}  // namespace leadline::bench::bisection
