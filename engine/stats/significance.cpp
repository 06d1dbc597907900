// SPDX-License-Identifier: Apache-2.0
// False discovery rates.
#include "stats/significance.hpp"

#include <algorithm>
#include <numeric>

namespace leadline::stats {

std::vector<bool> rejected(std::span<const double> p_values, std::uint64_t num_tests, double rate) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::size_t num_rejected = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const double limit = rate * static_cast<double>(place + 1) / static_cast<double>(num_tests);
    if (p_values[order[place]] <= limit) num_rejected = place + 1;
  }
  std::vector<bool> is_rejected(p_values.size(), false);
  for (std::size_t place = 0; place < num_rejected; ++place) is_rejected[order[place]] = true;
  return is_rejected;
}

}  // namespace leadline::stats
