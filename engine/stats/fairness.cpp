// SPDX-License-Identifier: Apache-2.0
// Sums of values and of their squares.
#include "stats/fairness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leadline::stats {

void Fairness::add(double value) {
  if (std::isnan(value)) return;
  ++num;
  sum += value;
  sum_of_squares += value * value;
}

void Fairness::merge(const Fairness& others) {
  num += others.num;
  sum += others.sum;
  sum_of_squares += others.sum_of_squares;
}

double Fairness::index() const {
  if (num == 0 || sum_of_squares == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::min(1.0, sum * sum / (static_cast<double>(num) * sum_of_squares));
}

}  // namespace leadline::stats
