// SPDX-License-Identifier: Apache-2.0
// Histograms of logarithms: quantiles of any number of values in a fixed amount of memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace leadline::diagnosis {

/// Bins of 1/1024 (0.1 %) from -16 to 32; what lies outside counts at the end.
class LogHistogram {
 public:
  static constexpr double lowest = -16, highest = 32, bins_a_unit = 1024;
  static constexpr auto num_bins = static_cast<std::size_t>((highest - lowest) * bins_a_unit);

  void add(float value) { ++at(index_of(value)); }
  void add(const LogHistogram& other);

  /// From the lowest bin to the highest one that something was counted in, and maybe some beside them.
  std::span<const std::uint64_t> counts() const { return counts_; }
  std::size_t first_bin() const { return first_; }  ///< of counts()

  /// Of all num_bins bins, also of those in which nothing was counted.
  std::span<std::uint64_t> all_counts();

  std::uint64_t num() const;

  /// The q-quantile, evenly spread within its bin; NaN without values.
  double quantile(double q) const;

  /// 1.4826 times the median distance from the median: the standard deviation of a normal distribution. Of residuals
  /// a fit of quantiles makes `num_fitted` 0, which say nothing of the spread: the median is that of the others.
  double spread(std::uint64_t num_fitted = 0) const;

  /// How many values lie at or above this one.
  std::uint64_t num_from(double value) const;

 private:
  static std::size_t index_of(double value) {
    const double at = (value - lowest) * bins_a_unit;
    return static_cast<std::size_t>(std::clamp(at, 0.0, (highest - lowest) * bins_a_unit - 1));
  }

  std::uint64_t& at(std::size_t bin) {
    if (!has(bin)) make_room(bin);
    return counts_[bin - first_];
  }
  std::uint64_t in(std::size_t bin) const { return has(bin) ? counts_[bin - first_] : 0; }
  bool has(std::size_t bin) const { return bin - first_ < counts_.size(); }  // below the first one modulo 2^64
  void make_room(std::size_t bin);

  std::size_t first_ = 0;
  std::vector<std::uint64_t> counts_;  ///< of the bins from first_ on; empty while nothing is counted
};

/// Two bins an octave, from a quarter of the scale to 1024 times it, on both sides of one around 0.
class ColumnBins {
 public:
  static constexpr std::size_t a_side = 24, num = 2 * a_side + 1;

  /// `scale` > 0: about the spread of the values.
  explicit ColumnBins(double scale) : smallest_(scale / 4), per_scale_(static_cast<float>(1 / smallest_)) {}

  std::size_t index_of(float value) const {
    // The upper bits of a float, exponent and the first bit of the mantissa, count half octaves.
    const float size = std::fabs(value) * per_scale_;
    if (!(size >= 1)) return a_side;
    const std::uint32_t half_octave = (std::bit_cast<std::uint32_t>(size) >> 22) - (127U << 1);
    const std::size_t beyond = half_octave < a_side ? half_octave + 1 : a_side;
    return value < 0 ? a_side - beyond : a_side + beyond;
  }

  /// Where bin `index` begins, the far ends included; edge(num) is the end of the last one.
  double edge(std::size_t index) const {
    const auto edge_out = [&](std::size_t beyond) {  // beyond >= 1: 1, 1.5, 2, 3, 4, 6 ... times the smallest
      return smallest_ * std::ldexp((beyond - 1) % 2 == 0 ? 1 : 1.5, static_cast<int>((beyond - 1) / 2));
    };
    return index > a_side ? edge_out(index - a_side) : -edge_out(a_side + 1 - index);
  }

  /// The q-quantile of counts in these bins; NaN without any.
  double quantile(std::span<const std::uint32_t> counts, double q) const {
    std::uint64_t all = 0;
    for (const std::uint32_t count : counts) all += count;
    if (all == 0) return NAN;
    double wanted = q * static_cast<double>(all);
    for (std::size_t bin = 0; bin < num; ++bin) {
      const double here = counts[bin];
      if (here > 0 && wanted <= here) return edge(bin) + wanted / here * (edge(bin + 1) - edge(bin));
      wanted -= here;
    }
    return edge(num);
  }

 private:
  double smallest_;
  float per_scale_;
};

}  // namespace leadline::diagnosis
