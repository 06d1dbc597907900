// SPDX-License-Identifier: Apache-2.0
// What is left to explain of the effects of senders and receivers, as places are found that explain some.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/layout.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// Classes of pairs, a bit each.
using ClassSet = std::uint32_t;

class RemainingEffects {
 public:
  /// Both outlive it. Copies the effects, classes without pairs left out.
  RemainingEffects(const Effects& effects, const PairClasses& classes);

  double share() const { return effects_.share; }  ///< of members that a place may have sound
  ClassSet between() const { return between_; }    ///< pairs of different hosts
  ClassSet inside() const { return inside_; }      ///< pairs of one host
  ClassSet crossing(std::size_t level) const;      ///< pairs that leave the groups of a level
  ClassSet within(std::size_t level) const { return between_ & ~crossing(level); }

  /// What a rank shows in all of these classes at least; NaN where it has no pairs in any. `both`: in both ways.
  double of_rank(std::uint32_t rank, FaultDirection direction, ClassSet set) const;

  /// What nearly all of these ranks show (more than half of them, where ends were fitted to halves); see consensus().
  double of_ranks(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const;

  /// Ordered pairs of these ranks in these classes (both ways: senders and receivers).
  std::uint64_t num_pairs(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const;

  /// The standard error of what of_ranks() gives, from the scatter of single pairs.
  double standard_error(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const;

  /// These ranks' share of an effect is explained.
  void explain(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set, double effect);

 private:
  const Effects& effects_;
  const PairClasses& classes_;
  ClassSet between_ = 0, inside_ = 0;
  std::vector<double> spread_;  ///< by class: how its pairs scatter, as far as anybody can tell
  std::vector<std::vector<float>> out_, in_;
};

}  // namespace leadline::diagnosis
