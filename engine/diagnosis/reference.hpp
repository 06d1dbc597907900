// SPDX-License-Identifier: Apache-2.0
// What sound components of a kind have in common, however many of the others are slow.
#pragma once

#include <cstddef>
#include <vector>

namespace leadline::diagnosis {

/// Of the MAD over the standard deviation of normally distributed values.
inline constexpr double efficiency_of_mad = 0.37;

/// Robust: of values in any order, NaN left out.
struct Middle {
  double median = 0, spread = 0;  ///< 1.4826 MAD
  std::size_t num = 0;
};
Middle middle_of(std::vector<double> values);

inline constexpr double share_of_majority = 0.55;

/// The lowest cluster of logarithms that holds this share of them, and two at least: faults only slow down, so what is
/// sound lies lowest, be it less than half. `noise`: standard deviation of a value by itself. `cut`: values above it
/// do not belong to the cluster; infinite where all belong to it.
struct Reference {
  Middle middle;  ///< where others are cut off, its spread is the standard deviation
  double cut = 0;
  double freedom = 0;  ///< degrees of freedom that its spread is worth: of a standard deviation more than of a MAD
};
Reference lowest_cluster(std::vector<double> values, double noise, double least_share = 0.1);

/// The lower 55 %, and what follows without a gap.
Reference majority(std::vector<double> values);

}  // namespace leadline::diagnosis
