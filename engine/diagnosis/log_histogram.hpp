// SPDX-License-Identifier: Apache-2.0
// Counts of logarithms in narrow bins: quantiles of any number of values in a fixed amount of memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace leadline::diagnosis {

/// Bins of 1/1024 (0.1 %) from -16 to 32; what lies outside counts at the end.
class LogHistogram {
 public:
  static constexpr double lowest = -16, highest = 32, bins_a_unit = 1024;

  LogHistogram() : counts_(static_cast<std::size_t>((highest - lowest) * bins_a_unit)) {}

  void add(float value) { ++counts_[index_of(value)]; }
  std::span<std::uint64_t> counts() { return counts_; }

  std::uint64_t num() const;

  /// The q-quantile, evenly spread within its bin; NaN without values.
  double quantile(double q) const;

  /// 1.4826 times the median distance from the median: the standard deviation of a normal distribution.
  double spread() const;

  /// How many values lie at or above this one.
  std::uint64_t num_from(double value) const;

 private:
  static std::size_t index_of(double value) {
    const double at = (value - lowest) * bins_a_unit;
    return static_cast<std::size_t>(std::clamp(at, 0.0, (highest - lowest) * bins_a_unit - 1));
  }

  std::vector<std::uint64_t> counts_;
};

}  // namespace leadline::diagnosis
