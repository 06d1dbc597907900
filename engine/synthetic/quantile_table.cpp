// SPDX-License-Identifier: Apache-2.0
// Inverts distribution functions by bisection.
#include "synthetic/quantile_table.hpp"

namespace leadline::synthetic {
namespace {

/// Relative precision of the bisection.
constexpr double precision = 1e-12;

/// Least x from which on `is_beyond` holds.
template <typename Predicate>
double first_beyond(double low, double high, const Predicate& is_beyond) {
  if (is_beyond(low)) return low;
  while (high - low > precision * (high > -low ? high : -low)) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    (is_beyond(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double QuantileTable::tail_at(std::uint64_t node) {
  return std::bit_cast<double>((first_node + node) << (52 - bits_a_cell));
}

QuantileTable::QuantileTable(const Tails& tails, double least, double most) : nodes_(2 * num_nodes) {
  // Nodes ascend on one side and descend on the other: each is the bracket's end for the next.
  double low = least, high = most;
  for (std::uint64_t node = 0; node < num_nodes; ++node) {
    const double tail = tail_at(node);
    low = first_beyond(low, most, [&](double x) { return tails.below(x) >= tail; });
    high = first_beyond(least, high, [&](double x) { return tails.above(x) <= tail; });
    nodes_[node] = low;
    nodes_[num_nodes + node] = high;
  }
}

QuantileTable::QuantileTable(const Quantiles& quantiles) : nodes_(2 * num_nodes) {
  for (std::uint64_t node = 0; node < num_nodes; ++node) {
    nodes_[node] = quantiles.of_below(tail_at(node));
    nodes_[num_nodes + node] = quantiles.of_above(tail_at(node));
  }
}

QuantileTable QuantileTable::mapped(const std::function<double(double x)>& f) const {
  QuantileTable result = *this;
  for (double& x : result.nodes_) x = f(x);
  return result;
}

}  // namespace leadline::synthetic
