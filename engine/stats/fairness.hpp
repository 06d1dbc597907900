// SPDX-License-Identifier: Apache-2.0
// How evenly something is shared out: Jain's fairness index, from sums that ranks can combine.
#pragma once

#include <cstdint>

namespace leadline::stats {

/// All that the index needs to know of its values. Plain bytes, so that it may travel between ranks.
struct Fairness {
  std::uint64_t num = 0;
  double sum = 0, sum_of_squares = 0;

  /// A value that is NaN was not measured and does not count. Others are not negative.
  void add(double value);

  /// As if all of the others had been added here.
  void merge(const Fairness& others);

  /// (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984): 1 where all are equal, 1/n where one has everything. Never above
  /// 1, whatever the rounding. NaN where there is no value, or none above 0.
  double index() const;
};

}  // namespace leadline::stats
