// SPDX-License-Identifier: Apache-2.0
// Questions to the effects of senders and receivers.
#include "diagnosis/remaining_effects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnosis/suspect.hpp"

namespace leadline::diagnosis {
namespace {

bool has(ClassSet set, std::size_t pair_class) { return (set >> pair_class & 1U) != 0; }

}  // namespace

RemainingEffects::RemainingEffects(const Effects& effects, const PairClasses& classes)
    : effects_(effects), classes_(classes) {
  for (std::size_t pair_class = 0; pair_class < effects.classes.size(); ++pair_class) {
    const Effects::OfClass& one = effects.classes[pair_class];
    out_.push_back(one.out);
    in_.push_back(one.in);
    spread_.push_back(one.spread);
    if (one.num == 0) continue;
    (PairClasses::is_inside(pair_class) ? inside_ : between_) |= 1U << pair_class;
  }
  // Where the ends explain every pair, as inside hosts of two ranks, nothing is left that shows how pairs scatter.
  double known = 0;
  for (const Effects::OfClass& one : effects.classes) {
    if (one.num > num_ends(one)) known = std::fmax(known, one.spread);
  }
  for (std::size_t pair_class = 0; pair_class < spread_.size(); ++pair_class) {
    const Effects::OfClass& one = effects.classes[pair_class];
    if (one.num <= num_ends(one)) spread_[pair_class] = std::fmax(one.spread, known);
  }
}

ClassSet RemainingEffects::crossing(std::size_t level) const {
  ClassSet set = 0;
  for (std::size_t pair_class = 0; pair_class < effects_.classes.size(); ++pair_class) {
    if (classes_.crosses(pair_class, level)) set |= 1U << pair_class;
  }
  return set & between_;
}

double RemainingEffects::of_rank(std::uint32_t rank, FaultDirection direction, ClassSet set) const {
  double least = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (!has(set, pair_class)) continue;
    if (direction != FaultDirection::in) least = std::fmin(least, out_[pair_class][rank]);
    if (direction != FaultDirection::out) least = std::fmin(least, in_[pair_class][rank]);
  }
  return least;
}

double RemainingEffects::of_ranks(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const {
  std::vector<double> shown;
  shown.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) shown.push_back(of_rank(rank, direction, set));
  return consensus(shown, effects_.share);
}

std::uint64_t RemainingEffects::num_pairs(std::span<const std::uint32_t> ranks, FaultDirection direction,
                                          ClassSet set) const {
  std::uint64_t num = 0;
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (!has(set, pair_class)) continue;
    const Effects::OfClass& one = effects_.classes[pair_class];
    for (const std::uint32_t rank : ranks) {
      num += (direction != FaultDirection::in ? one.num_out[rank] : 0) +
             (direction != FaultDirection::out ? one.num_in[rank] : 0);
    }
  }
  return num;
}

double RemainingEffects::standard_error(std::span<const std::uint32_t> ranks, FaultDirection direction,
                                        ClassSet set) const {
  double spread = 0;
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (has(set, pair_class)) spread = std::fmax(spread, spread_[pair_class]);
  }
  // Of `both` only one way decides, the lesser one.
  const std::uint64_t num = num_pairs(ranks, direction, set) / (direction == FaultDirection::both ? 2 : 1);
  return quartile_efficiency * spread / std::sqrt(std::max<double>(static_cast<double>(num), 1));
}

void RemainingEffects::explain(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set,
                               double effect) {
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (!has(set, pair_class)) continue;
    for (const std::uint32_t rank : ranks) {
      if (direction != FaultDirection::in) out_[pair_class][rank] -= static_cast<float>(effect);
      if (direction != FaultDirection::out) in_[pair_class][rank] -= static_cast<float>(effect);
    }
  }
}

}  // namespace leadline::diagnosis
