// SPDX-License-Identifier: Apache-2.0
// What the two ends of pairs explain: an additive fit of logarithms by class, sender and receiver.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "diagnosis/layout.hpp"
#include "diagnosis/log_histogram.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// An end counts for what this share of its pairs shows at most. The better half is for what strikes pairs by chance,
/// as losses do: of few messages many pairs see none.
inline constexpr double better_quarter = 0.25, better_half = 0.5;

/// No pairs are taken to scatter less than this, of a logarithm.
inline constexpr double least_spread = 1e-3;

/// What two slow ends do to the time of a pair between them: t = base * factor.
enum class Composition : std::uint8_t {
  product,  ///< s_out * s_in, as good as any where one end is sound
  maximum,  ///< max(s_out, s_in): bandwidths along a path
  sum,      ///< s_out + s_in - 1: latencies along a path
};

/// 10 %, logarithm: below, nothing distinguishes the three.
inline constexpr float slow_end = 0.095F;

/// The logarithm of the factor of a pair whose ends have these logarithms of factors.
inline float composed(Composition composition, float out, float in) {
  if (composition == Composition::product || !(out > slow_end) || !(in > slow_end)) return out + in;
  return composition == Composition::maximum ? std::max(out, in) : std::log(std::exp(out) + std::exp(in) - 1);
}

/// value(i, j) = centre[class] + composed(out[class][i], in[class][j]) + residual. An end counts for what the better
/// quarter of its pairs with sound partners shows (or the share that fit() is told); all of its pairs where it has no
/// sound partner.
struct Effects {
  struct OfClass {
    std::uint64_t num = 0;  ///< ordered pairs measured
    double median = 0;      ///< of the values
    double centre = 0;      ///< with it the median residual is 0; NaN without pairs
    double spread = 0;      ///< of the residuals, robust
    double step = 0;        ///< of the clock, logarithm: what any number of pairs may show by chance; 0 = fine
    Composition composition = Composition::product;
    std::vector<float> out, in;                  ///< by rank, the lowest cluster's 0; NaN = it has no such pair
    std::vector<std::uint32_t> num_out, num_in;  ///< such pairs that were measured
    std::uint64_t num_fitted = 0;                ///< ends fitted to them; of ends of several classes the class's part
    std::uint64_t num_free = 0;  ///< pairs less ends that the spread was found from: of all classes that share ends
    LogHistogram residuals;
    double residual_zero = 0;  ///< where in `residuals` the middle one lies
  };
  std::vector<OfClass> classes;   ///< by PairClasses
  double share = better_quarter;  ///< that ends were fitted to
  bool are_ends_joined = false;   ///< an end adds the same time in all classes between hosts
};

/// Pairs of this end that its effect in this class was fitted to, as a sender or as a receiver.
std::uint32_t num_fitted_to(const Effects& effects, std::size_t pair_class, std::uint32_t rank,
                            FaultDirection direction);

/// Collective. The fit: `share`-quantiles of rows and columns, first as they are, then of pairs with sound partners
/// less what these show, until big effects are out of the columns' bins. Sound is who belongs to the lowest cluster.
/// Four sweeps over all pairs, or over some thousand of each end and class where there are more, and one over pairs of
/// two slow ends, which tells how they compose.
Effects fit(const Rows& rows, const PairClasses& classes, double share = better_quarter);

/// The class of each value of a row.
void classes_of(const PairClasses& classes, const Row& row, std::vector<std::uint8_t>& classes_of_values);

/// The residual of a row's value, whose class is known; NaN where nothing was measured.
inline float residual_of(const Effects& effects, std::uint8_t pair_class, const Row& row, std::size_t index) {
  const Effects::OfClass& one = effects.classes[pair_class];
  const std::uint32_t to = row.partner(index);
  if (to == row.from) return std::numeric_limits<float>::quiet_NaN();
  return row.values[index] - static_cast<float>(one.centre) - composed(one.composition, one.out[row.from], one.in[to]);
}

/// A row's residuals, NaN where nothing was measured, and the class of each.
void residuals_of(const Effects& effects, const PairClasses& classes, const Row& row,
                  std::vector<std::uint8_t>& classes_of_values, std::vector<float>& residuals);

}  // namespace leadline::diagnosis
