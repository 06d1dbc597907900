// SPDX-License-Identifier: Apache-2.0
// Random numbers of any distribution out of uniform ones, by a table: a few nanoseconds each, and the same everywhere.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

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

}  // namespace leadline::synthetic
