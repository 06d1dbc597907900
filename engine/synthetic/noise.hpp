// SPDX-License-Identifier: Apache-2.0
// How times scatter: factors of ends, pairs and batches, each a function of the seed and its owner, so that any can be
// computed alone, in any order and on any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "stats/summary.hpp"
#include "synthetic/machine.hpp"

namespace leadline::synthetic {

/// A uniform number in (0, 1) from random bits, never 0 nor 1; it and its distance to 1 are exact.
constexpr double uniform_of(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

/// The inverse of a distribution function: linear between nodes, 32 in each octave of the distance to the nearer end
/// of (0, 1), so that the tails are as exact as the middle (some 1e-4). What is rarer than 2^-40 counts as 2^-40.
class QuantileTable {
 public:
  /// P(X <= x) and P(X > x), each exact where it is small.
  struct Tails {
    std::function<double(double x)> below, above;
  };

  /// Of a distribution on [least, most], found by bisection.
  QuantileTable(const Tails& tails, double least, double most);

  /// Where the inverse is known: of P(X <= x) and of P(X > x).
  struct Quantiles {
    std::function<double(double probability)> of_below, of_above;
  };
  explicit QuantileTable(const Quantiles& quantiles);

  /// Of f(X), f ascending.
  QuantileTable mapped(const std::function<double(double x)>& f) const;

  double operator()(double u) const {
    // Without a branch: which half a random number lies in, no processor can foresee.
    const bool is_above = u >= 0.5;
    const double distance = std::abs(static_cast<double>(is_above) - u);
    // Exponent and leading bits of a double number the cells; the bits behind say where in the cell.
    const std::uint64_t bits = std::max(std::bit_cast<std::uint64_t>(distance), std::bit_cast<std::uint64_t>(rarest));
    const std::uint64_t side = static_cast<std::uint64_t>(is_above) * num_nodes;
    const double* node = nodes_.data() + side + ((bits >> (52 - bits_a_cell)) - first_node);
    constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52) - 1, one = std::uint64_t{0x3ff} << 52;
    const double fraction = std::bit_cast<double>(((bits << bits_a_cell) & mantissa) | one) - 1;
    return node[0] + fraction * (node[1] - node[0]);
  }

 private:
  static constexpr int num_octaves = 39, bits_a_cell = 5;
  static constexpr double rarest = 0x1p-40;
  static constexpr std::uint64_t first_node = std::bit_cast<std::uint64_t>(rarest) >> (52 - bits_a_cell);

  /// The last one lies behind 1/2: interpolation at 1/2 looks at it and does not use it.
  static constexpr std::uint64_t num_nodes = (std::uint64_t{num_octaves} << bits_a_cell) + 2;

  static double tail_at(std::uint64_t node);

  // By probability of the nearer tail, ascending from `rarest` to 1/2: those below 1/2, then those above.
  std::vector<double> nodes_;
};

class NoiseModel {
 public:
  NoiseModel(const Noise& noise, std::uint64_t seed, std::uint32_t num_batches);

  double of_host(std::uint32_t host) const;
  double of_rank(std::uint32_t rank) const;

  /// Random bits of a row, and of a pair in it.
  std::uint64_t row_key(std::uint32_t from) const { return mix64(seed_ + (from + 4U) * splitmix64_increment); }
  static std::uint64_t pair_key(std::uint64_t row_key, std::uint32_t to) { return number(row_key, to + 1U); }

  /// Of the pair; never changes.
  double of_pair(std::uint64_t pair_key) const { return pair_(uniform_of(number(pair_key, 1))); }

  /// Of all batches in the main test: 1 but for rare pairs.
  double of_disturbance(std::uint64_t pair_key) const {
    const double u = uniform_of(number(pair_key, 2));
    return u < noise_.disturbed_probability ? disturbed(u / noise_.disturbed_probability) : 1;
  }

  /// Random bits of a measurement of the pair: attempt 0 is the main test, others are retests.
  static std::uint64_t batches_key(std::uint64_t pair_key, std::uint32_t attempt) {
    return number(pair_key, attempt + 3U);
  }

  /// The median of the batches alone; the same number as in batches().
  double median(std::uint64_t batches_key) const { return middle(middle_batches(batches_key)); }

  /// Statistics as stats::summarize defines them.
  stats::Summary batches(std::uint64_t batches_key) const;

  /// The batches themselves, num_batches of them, in no particular order.
  void each_batch(std::uint64_t batches_key, std::span<double> factors) const;

  /// The n-th number of a stream.
  static std::uint64_t number(std::uint64_t key, std::uint64_t n) { return mix64(key + n * splitmix64_increment); }

 private:
  /// The two order statistics around the median, as uniform numbers; the same one twice where batches are odd.
  struct Middle {
    double low, high;
  };

  Middle middle_batches(std::uint64_t batches_key) const {
    const double low = low_middle_(uniform_of(number(batches_key, 1)));
    if (is_odd_) return {low, low};
    return {low, 1 - (1 - low) * rest_above_(uniform_of(number(batches_key, 2)))};
  }
  double middle(const Middle& middle) const {
    const double low = batch_(middle.low), high = batch_(middle.high);
    return high - (high - low) * 0.5;
  }
  double disturbed(double u) const;

  Noise noise_;
  std::uint64_t seed_;
  std::uint32_t num_batches_, num_below_, num_above_;  // batches, those on either side of the middle
  bool is_odd_;
  QuantileTable pair_, batch_;
  QuantileTable low_middle_;  // the lower middle of num_batches uniform numbers
  QuantileTable rest_above_;  // (1 - its successor) / (1 - it)
};

}  // namespace leadline::synthetic
