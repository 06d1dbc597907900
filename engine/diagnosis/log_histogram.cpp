// SPDX-License-Identifier: Apache-2.0
// Quantiles of counted logarithms.
#include "diagnosis/log_histogram.hpp"

#include <limits>
#include <numeric>

namespace leadline::diagnosis {

std::uint64_t LogHistogram::num() const { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

double LogHistogram::quantile(double q) const {
  const std::uint64_t all = num();
  if (all == 0) return std::numeric_limits<double>::quiet_NaN();
  double wanted = q * static_cast<double>(all);
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    const auto here = static_cast<double>(counts_[bin]);
    if (here > 0 && wanted <= here) return lowest + (static_cast<double>(bin) + wanted / here) / bins_a_unit;
    wanted -= here;
  }
  return highest;
}

double LogHistogram::spread(std::uint64_t num_fitted) const {
  const double middle = quantile(0.5);
  if (std::isnan(middle)) return middle;
  // Bins at equal distances on both sides of the median, outwards until they hold half of the values that are free.
  const auto wanted = static_cast<double>(num() + std::min(num_fitted, num())) / 2;
  const std::size_t at = index_of(middle);
  auto held = static_cast<double>(counts_[at]);
  std::size_t distance = 0;
  while (held < wanted) {
    ++distance;
    if (at >= distance) held += static_cast<double>(counts_[at - distance]);
    if (at + distance < counts_.size()) held += static_cast<double>(counts_[at + distance]);
  }
  return 1.4826 * (static_cast<double>(distance) + 0.5) / bins_a_unit;
}

std::uint64_t LogHistogram::num_from(double value) const {
  return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(index_of(value)), counts_.end(),
                         std::uint64_t{0});
}

}  // namespace leadline::diagnosis
